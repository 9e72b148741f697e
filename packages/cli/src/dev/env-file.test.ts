import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { writeEnvFile } from './env-file.js'

const values = { API_SECRET: 'one', WEBHOOK_SIGNING_SECRET: 'two' }

it('writes the values for its owner alone, and replaces its own file', () => {
  const path = join(temporaryFolder(), '.env.local')
  expect(writeEnvFile(path, values)).toEqual({ kind: 'written', path, ignored: false })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  writeEnvFile(path, { ...values, API_SECRET: 'three' })
  expect(readFileSync(path, 'utf8').split('\n').slice(1)).toEqual([
    'API_SECRET=three',
    'WEBHOOK_SIGNING_SECRET=two',
    '',
  ])
})

it('never changes a file of the user', () => {
  const path = join(temporaryFolder(), '.env.local')
  writeFileSync(path, 'MINE=1\n')
  expect(writeEnvFile(path, values)).toEqual({ kind: 'kept', path, ignored: false })
  expect(readFileSync(path, 'utf8')).toBe('MINE=1\n')
})

it.each(['.env.local', '/.env.local', '.env*', '.env*.local', '*.local'])('%s in .gitignore ignores it', (pattern) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '.gitignore'), `node_modules\n${pattern}\n`)
  expect(writeEnvFile(join(folder, '.env.local'), values)).toMatchObject({ ignored: true })
})
