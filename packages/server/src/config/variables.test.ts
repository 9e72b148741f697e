import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { problemsIn } from '../../test/support/config-problems.js'
import { readConfig } from './read-config.js'
import type { Environment, ReadFile } from './variables.js'

const minimal = { PI_MASTER_KEY: randomBytes(32).toString('hex') }

const problemsOf = (env: Environment, readFile?: ReadFile) => problemsIn(() => readConfig(env, readFile))

describe('a variable that is read from a file', () => {
  const url = 'postgresql://user:pa%20ss@db.example/payments'
  const file = '/run/secrets/database'
  const env = { ...minimal, PI_DATABASE_URL_FILE: file }
  const holding = (content: string) => (path: string) => {
    expect(path).toBe(file)
    return content
  }

  it.each([url, `${url}\n`, `${url}\r\n`, ` ${url} \n`])('has its trimmed content: %j', (content) => {
    expect(readConfig(env, holding(content)).database).toEqual({ kind: 'postgres', connectionString: url })
  })

  it('is read from the disk, and only when it is named', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'pi-config-')), 'url')
    writeFileSync(path, 'sqlite:other.db\n')
    expect(readConfig({ ...minimal, PI_DATABASE_URL_FILE: path }).database).toEqual({
      kind: 'sqlite',
      path: 'other.db',
    })
    expect(readConfig({ ...minimal, PI_DATABASE_URL_FILE: '' }).database).toMatchObject({ kind: 'sqlite' })
    rmSync(dirname(path), { recursive: true })
  })

  it('must not also be set directly: it would be ambiguous', () => {
    expect(problemsOf({ ...env, PI_DATABASE_URL: url }, holding('sqlite:a.db'))).toEqual([
      'PI_DATABASE_URL and PI_DATABASE_URL_FILE are both set; set one of them.',
    ])
  })

  it('is a problem when the file is missing, empty or too long', () => {
    expect(problemsOf({ ...minimal, PI_DATABASE_URL_FILE: '/no/such/file' })).toEqual([
      'PI_DATABASE_URL_FILE names a file which cannot be read (ENOENT); expected one that holds the value of PI_DATABASE_URL.',
    ])
    expect(problemsOf(env, holding(' \n'))).toEqual([
      'PI_DATABASE_URL_FILE names a file which is empty; expected one that holds the value of PI_DATABASE_URL.',
    ])
    expect(problemsOf(env, holding('x'.repeat(65_537)))).toEqual([
      'PI_DATABASE_URL_FILE names a file which has 65537 characters; 65536 at most; expected one that holds the value of PI_DATABASE_URL.',
    ])
  })

  it('given in place of its path never appears in a problem', () => {
    const problems = problemsOf({ ...minimal, PI_DATABASE_URL_FILE: 'postgres://app:canary@db.example/payments' })
    expect(problems).toEqual([expect.stringContaining('PI_DATABASE_URL_FILE names a file which cannot be read')])
    expect(problems.join()).not.toContain('canary')
  })

  it('never appears in a problem', () => {
    const problems = problemsOf(env, holding('mysql://user:canary@db.example/payments'))
    expect(problems).toEqual([expect.stringContaining('PI_DATABASE_URL has mysql:')])
    expect(problems.join()).not.toContain('canary')
  })

  it.each([
    ['PI_DATABASE_DIRECT_URL', url],
    ['PI_DATABASE_READ_URL', url],
    ['PI_MASTER_KEY', minimal.PI_MASTER_KEY],
    ['PI_PROCESSOR_SECRETS', 'a-secret-of-the-test'],
    ['PI_METRICS_TOKEN', 'a-token-of-the-test'],
    ['PI_OIDC_CLIENT_SECRET', 'a-secret-of-the-test'],
    ['PI_IDENTITY_APP_TOKEN', 'token'],
    ['PI_IDENTITY_SECRET_KEY', 'key'],
    ['PI_IDENTITY_WEBHOOK_SECRETS', 'a-secret-of-the-test'],
    ['PI_RECEIPTS_URL', 'https://user:pass@receipts.example'],
    ['PI_RPC_URL_137', 'https://node.example/key'],
    ['PI_HEADS_URL_137', 'wss://node.example/key'],
  ])('may be %s: every secret can', (name, value) => {
    const others: Environment = {
      ...minimal,
      PI_DATABASE_URL: url,
      PI_PROCESSOR_SECRETS: 'a-secret-of-the-test',
      PI_CONSOLE_URL: 'https://console.example',
      PI_CONSOLE: 'on',
      PI_OIDC_ISSUER: 'https://oidc.example',
      PI_OIDC_CLIENT_ID: 'client',
      PI_OIDC_CLIENT_SECRET: 'a-secret-of-the-test',
      PI_IDENTITY_APP_TOKEN: 'token',
      PI_IDENTITY_SECRET_KEY: 'key',
      PI_IDENTITY_LEVEL: 'level',
      PI_IDENTITY_WEBHOOK_SECRETS: 'a-secret-of-the-test',
      PI_RECEIPTS: 'http',
      PI_RECEIPTS_URL: 'https://user:pass@receipts.example',
      PI_RPC_URL_137: 'https://node.example/key',
    }
    const direct = readConfig({ ...others, [name]: value })
    const env = { ...others, [name]: undefined, [`${name}_FILE`]: file }
    expect(readConfig(env, holding(`${value}\n`))).toEqual(direct)
    expect(problemsOf({ ...env, [name]: value }, holding(value))).toEqual([
      `${name} and ${name}_FILE are both set; set one of them.`,
    ])
  })

  it('is possible for no other variable', () => {
    expect(problemsOf({ ...minimal, PI_HOST_FILE: file })).toEqual([
      expect.stringContaining('PI_HOST_FILE is not a known'),
    ])
    expect(problemsOf({ ...minimal, PI_ROUTERS_137_FILE: file })).toEqual([
      expect.stringContaining('expected a chain id in plain digits'),
    ])
  })
})
