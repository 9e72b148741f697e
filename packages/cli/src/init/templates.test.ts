import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgresVersionTable } from '@payment-integration/version-store/postgres'
import { createSqliteVersionStore } from '@payment-integration/version-store/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, test } from 'vitest'
import { stripTypes } from '../../scripts/strip-types.js'
import { templatesFolder } from '../templates-folder.js'
import { versions } from './versions.js'

const names = readdirSync(templatesFolder, { recursive: true, encoding: 'utf8' })
const read = (name: string) => readFileSync(join(templatesFolder, name), 'utf8')

/** Without what the formatter decides. */
const bare = (text: string) => text.replace(/[\s;()]+/g, '').replaceAll(',', '')

describe('templates', () => {
  test.each(names.filter((name) => name.endsWith('.ts')))(
    '%s has a copy in JavaScript: npx tsx packages/cli/scripts/write-js-templates.ts',
    (name) => {
      expect(bare(read(name.replace(/ts$/, 'js')))).toBe(bare(stripTypes(read(name))))
    },
  )

  test('the tables are those that the version store creates', async () => {
    expect(read('shared/tables.postgres.sql')).toContain(`${postgresVersionTable()};`)
    const database = new DatabaseSync(':memory:')
    const payment = {
      integrationAddress: `0x${'a1'.repeat(20)}`,
      chainId: '1',
      txHash: `0x${'b2'.repeat(32)}`,
      version: 1,
    }
    await createSqliteVersionStore({ database }).advance(payment, () => {})
    const { sql } = Object(database.prepare("SELECT sql FROM sqlite_master WHERE name = 'payment_versions'").get())
    database.close()
    const table = String(sql).replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS')
    expect(read('shared/tables.sqlite.sql')).toContain(`${table};`)
  })

  test('the versions that are written are those that this repository tests', () => {
    const root = join(import.meta.dirname, '../../../..')
    for (const [name, version] of Object.entries(versions)) {
      const path = name.startsWith('@payment-integration/') ? `packages/${name.split('/')[1]}` : `node_modules/${name}`
      expect(JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')).version).toBe(version)
    }
  })
})
