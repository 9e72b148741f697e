import { execFile } from 'node:child_process'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { expect, it } from 'vitest'
import { serveHttp } from '../../test/serve-http.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { createClosers, findFreePort, openBrowser, writeEnvFile } from './machine.js'

it('closes newest first, continues after a failure and rejects with the first one', async () => {
  const closers = createClosers()
  const closed: string[] = []
  closers.add('a', (name) => closed.push(name))
  closers.add('b', () => Promise.reject(new Error('b is stuck')))
  closers.add('c', async (name) => closed.push(name))
  await expect(closers.close()).rejects.toThrow('b is stuck')
  expect(closed).toEqual(['c', 'a'])
})

it('closes once, also after several calls', async () => {
  const closers = createClosers()
  let count = 0
  expect(closers.add('thing', () => (count += 1))).toBe('thing')
  await Promise.all([closers.close(), closers.close()])
  await closers.close()
  expect(count).toBe(1)
})

const values = { API_SECRET: 'one', WEBHOOK_SIGNING_SECRET: 'two' }

it('writes the values for its owner alone, and replaces its own file', () => {
  const path = join(temporaryFolder(), '.env.local')
  expect(writeEnvFile(path, values)).toEqual({ kind: 'written', path, ignored: false })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  writeEnvFile(path, { ...values, API_SECRET: 'three' })
  const lines = readFileSync(path, 'utf8').split('\n').slice(1, -2)
  expect(lines).toEqual(['API_SECRET=three', 'WEBHOOK_SIGNING_SECRET=two'])
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

it.each<[string, (text: string) => string]>([
  ['CRLF', (text) => text.replaceAll('\n', '\r\n')],
  ['no last line end', (text) => text.trimEnd()],
  ['CRLF and no last line end', (text) => text.replaceAll('\n', '\r\n').trimEnd()],
  ['a byte order mark', (text) => `\ufeff${text}`],
])('replaces its own part after an editor saved the file with %s', (_, save) => {
  for (const before of ['', 'DATABASE_URL=x\n']) {
    const path = join(temporaryFolder(), '.env.local')
    writeFileSync(path, before)
    writeEnvFile(path, values)
    writeFileSync(path, save(readFileSync(path, 'utf8')))
    expect(writeEnvFile(path, { ...values, API_SECRET: 'three' }).kind).toBe('written')
    const written = readFileSync(path, 'utf8')
    expect(written).not.toContain('API_SECRET=one')
    expect(parseEnv(written)).toMatchObject({ API_SECRET: 'three', WEBHOOK_SIGNING_SECRET: 'two' })
    expect(written.includes('DATABASE_URL=x')).toBe(before !== '')
  }
})

it('takes a file that others can read from them before it writes secrets, and leaves one that it does not write', () => {
  const path = join(temporaryFolder(), '.env.local')
  const getMode = () => statSync(path).mode & 0o777
  for (const mode of [0o644, 0o640, 0o604]) {
    writeFileSync(path, '')
    chmodSync(path, mode)
    writeEnvFile(path, values)
    expect(getMode()).toBe(0o600)
  }
  writeFileSync(path, 'API_SECRET=mine\n')
  chmodSync(path, 0o644)
  writeEnvFile(path, values)
  expect(getMode()).toBe(0o644)
})

it('never changes a file that is no UTF-8, such as one of PowerShell', () => {
  const path = join(temporaryFolder(), '.env.local')
  const bytes = Buffer.from('\ufeffOTHER=1\r\n', 'utf16le')
  writeFileSync(path, bytes)
  expect(writeEnvFile(path, values).kind).toBe('kept')
  expect(readFileSync(path).equals(bytes)).toBe(true)
})

it.each(['\ufeffAPI_SECRET=mine\r\n', 'API_SECRET=mine\n', 'OTHER=1\nexport WEBHOOK_SIGNING_SECRET="mine"\n'])(
  'never changes a file in which the user has set one of the values: %j',
  (text) => {
    const path = join(temporaryFolder(), '.env.local')
    writeFileSync(path, text)
    expect(writeEnvFile(path, values)).toEqual({ kind: 'kept', path, ignored: false })
    expect(readFileSync(path, 'utf8')).toBe(text)
  },
)

it.each<[pattern: string, name: string, ignored: boolean]>([
  ['.env.local', '.env.local', true],
  ['.env*.local', '.env.local', true],
  ['*.local', '.env.local', true],
  ['.env.*.local', '.env.local', false],
])('with %s in .gitignore, %s is ignored: %s', (pattern, name, ignored) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '.gitignore'), `node_modules\n${pattern}\n`)
  expect(writeEnvFile(join(folder, name), values)).toMatchObject({ ignored })
})

const url = 'http://127.0.0.1:4747/console?a=1&b=2'

it.each([
  ['linux', 'xdg-open'],
  ['darwin', 'open'],
])('on %s the address goes to %s', async (system, opener) => {
  const folder = temporaryFolder()
  const pipe = join(folder, 'pipe')
  await promisify(execFile)('mkfifo', [pipe])
  await writeFile(join(folder, opener), `#!/bin/sh\nprintf '%s' "$1" > ${pipe}\n`, { mode: 0o755 })
  expect(await openBrowser(url, { PATH: folder }, system)).toBe(`Opening ${url}`)
  expect(await readFile(pipe, 'utf8')).toBe(url)
})

it.each(['linux', 'darwin', 'win32'])('without an opener on %s the address is printed', async (system) => {
  const text = /^No (xdg-open|open|cmd) on this machine\. Open http:\/\/127\.0\.0\.1:4747\/console\?a=1&b=2$/
  expect(await openBrowser(url, { PATH: temporaryFolder() }, system)).toMatch(text)
})

it('passes over a port in use', async () => {
  const port = Number(new URL(await serveHttp(() => undefined)).port)
  expect(await findFreePort(port)).toBeGreaterThan(port)
})
