import { execFileSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgresVersionTable } from '@payment-integration/version-store/postgres'
import { createSqliteVersionStore } from '@payment-integration/version-store/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { transform } from 'esbuild'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { templatesFolder } from '../files.js'
import { versions } from './project.js'
import { toJavaScript } from './template.js'

const root = join(import.meta.dirname, '../../../..')
const names = readdirSync(templatesFolder, { recursive: true, encoding: 'utf8' })
const read = (name: string) => readFileSync(join(templatesFolder, name), 'utf8')

const sources = names.filter((name) => name.endsWith('.ts'))

test.each(sources)('%s is the same program in JavaScript', async (name) => {
  const source = read(name)
  const script = toJavaScript(source)
  const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true } }
  const { code } = await transform(source, { loader: 'ts', tsconfigRaw })
  expect((await transform(script, { loader: 'js' })).code).toBe(code.replace(', {} from', ' from'))
  const comments = (text: string) => text.split('\n').filter((line) => /^ *([/]{2}|[/*]?[*]) ?/.test(line))
  expect(comments(source)).toEqual(expect.arrayContaining(comments(script)))
})

test('the JavaScript is formatted as the TypeScript is', () => {
  const folder = temporaryFolder()
  copyFileSync(join(root, 'biome.json'), join(folder, 'biome.json'))
  for (const name of sources) writeFileSync(join(folder, `${name.replaceAll(/\W/g, '-')}.js`), toJavaScript(read(name)))
  execFileSync(join(root, 'node_modules/.bin/biome'), ['format', '--vcs-enabled=false', '.'], { cwd: folder })
})

test('the tables are those that the version store creates', async () => {
  expect(read('shared/tables.postgres.sql')).toContain(`${postgresVersionTable()};`)
  const database = new DatabaseSync(':memory:')
  const txHash = `0x${'b2'.repeat(32)}`
  const payment = { integrationAddress: `0x${'a1'.repeat(20)}`, chainId: '1', txHash, version: 1 }
  await createSqliteVersionStore({ database }).advance(payment, () => {})
  const { sql } = Object(database.prepare("SELECT sql FROM sqlite_master WHERE name = 'payment_versions'").get())
  database.close()
  const table = String(sql).replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS')
  expect(read('shared/tables.sqlite.sql')).toContain(`${table};`)
})

test('the versions that are written are those that this repository tests', () => {
  for (const [name, version] of Object.entries(versions)) {
    const path = name.startsWith('@payment-integration/') ? `packages/${name.split('/')[1]}` : `node_modules/${name}`
    expect(JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')).version).toBe(version)
  }
})
