import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { writeEnvFile } from './env-file.js'

const values = { API_SECRET: 'one', WEBHOOK_SIGNING_SECRET: 'two' }

it('writes the values for its owner alone, and replaces its own file', () => {
  const path = join(temporaryFolder(), '.env.local')
  expect(writeEnvFile(path, values)).toEqual({ kind: 'written', path, ignored: false })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  writeEnvFile(path, { ...values, API_SECRET: 'three' })
  expect(readFileSync(path, 'utf8').split('\n').slice(1, -2)).toEqual([
    'API_SECRET=three',
    'WEBHOOK_SIGNING_SECRET=two',
  ])
})

it.each(['', 'DATABASE_URL=x\n# a secret:\nAPI_SECRET=\n', 'DATABASE_URL=x'])(
  'keeps %j of a file of the user, and adds its values after it, which win',
  (text) => {
    const path = join(temporaryFolder(), '.env.local')
    writeFileSync(path, text)
    for (const API_SECRET of ['one', 'again']) {
      expect(writeEnvFile(path, { ...values, API_SECRET }).kind).toBe('written')
      const written = readFileSync(path, 'utf8')
      expect(written.startsWith(text)).toBe(true)
      expect(parseEnv(written)).toMatchObject({ API_SECRET, WEBHOOK_SIGNING_SECRET: 'two' })
      expect(written.split('API_SECRET=one')).toHaveLength(API_SECRET === 'one' ? 2 : 1)
    }
  },
)

it.each(['API_SECRET=mine\n', 'OTHER=1\nexport WEBHOOK_SIGNING_SECRET="mine"\n'])(
  'never changes a file in which the user has set one of the values: %j',
  (text) => {
    const path = join(temporaryFolder(), '.env.local')
    writeFileSync(path, text)
    expect(writeEnvFile(path, values)).toEqual({ kind: 'kept', path, ignored: false })
    expect(readFileSync(path, 'utf8')).toBe(text)
  },
)

it.each(['.env.local', '/.env.local', '.env*', '.env*.local', '*.local'])('%s in .gitignore ignores it', (pattern) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '.gitignore'), `node_modules\n${pattern}\n`)
  expect(writeEnvFile(join(folder, '.env.local'), values)).toMatchObject({ ignored: true })
})
