/** No secret is in a message or in the settings, and every secret may come from a file. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { problemsIn } from '../../test/support/config-problems.js'
import { readConfig } from './read-config.js'
import type { Environment, ReadFile } from './read-variables.js'
import { sections } from './variables.js'

const key = randomBytes(32).toString('hex')
const file = '/run/secrets/one'

/** Every secret and every URL, each with the text that settings show. */
const given: Readonly<Record<string, readonly [value: string, shown: string]>> = {
  PI_MASTER_KEY: [key, 'set'],
  PI_DATABASE_URL: ['postgres://CANARY:CANARY@db.example:5432/pay?password=CANARY', 'postgres://db.example:5432/pay'],
  PI_DATABASE_DIRECT_URL: ['postgres://CANARY@direct.example/pay', 'postgres://direct.example/pay'],
  PI_DATABASE_READ_URL: ['postgres:///pay?password=CANARY', 'postgres:///pay'],
  PI_RPC_URL_1: [
    'https://CANARY:CANARY@rpc.example:8443/v3/CANARY?key=CANARY,wss://second.example/CANARY',
    'https://rpc.example:8443, wss://second.example',
  ],
  PI_HEADS_URL_1: ['wss://heads.example/CANARY', 'wss://heads.example'],
  PI_CHAIN_FEED_URL: ['nats://nats-1:4222, nats://nats-2', 'nats://nats-1:4222, nats://nats-2'],
  PI_PROCESSOR_SECRETS: ['CANARY-secret-of-it,CANARY-of-another', '2 set'],
  PI_RECEIPTS_URL: ['https://CANARY:CANARY@receipts.example/CANARY', 'https://receipts.example'],
  PI_IDENTITY_APP_TOKEN: ['CANARY', 'set'],
  PI_IDENTITY_SECRET_KEY: ['CANARY,CANARY', 'set'],
  PI_IDENTITY_WEBHOOK_SECRETS: ['CANARY-8', '1 set'],
  PI_IDENTITY_URL: ['https://provider.example:8443/CANARY', 'https://provider.example:8443'],
  PI_CONSOLE_URL: ['https://pay.example', 'https://pay.example'],
  PI_OIDC_ISSUER: ['https://id.example/CANARY', 'https://id.example'],
  PI_OIDC_CLIENT_SECRET: ['CANARY', 'set'],
  PI_PORTAL_URL: ['https://pay.example', 'https://pay.example'],
  PI_METRICS_TOKEN: ['CANARY-of-the-metrics', 'set'],
}
const values = Object.fromEntries(Object.entries(given).map(([name, [value]]) => [name, value]))
const whole: Environment = {
  ...values,
  PI_PORT: '5000',
  PI_RECEIPTS: 'http',
  PI_IDENTITY_LEVEL: 'level',
  PI_OIDC_CLIENT_ID: 'client',
  PI_PORTAL: 'on',
}
const rows = Object.values(sections).flatMap((section) => Object.entries(section))
const getName = (name: string) => (name.endsWith('_') ? `${name}1` : name)
const secrets = rows.filter(([, row]) => row.isSecret).map(([name]) => getName(name))

it('settings count secrets and cut URLs to scheme, host and port', () => {
  const { settings } = readConfig(whole)
  expect(settings.filter(({ name }) => name in given).map(({ name, value }) => [name, value])).toEqual(
    Object.entries(given).map(([name, [, shown]]) => [name, shown]),
  )
  expect(JSON.stringify(settings)).not.toMatch(new RegExp(`CANARY|${key}`))
})

it('settings have each variable of the table once, in its section, with what it means', () => {
  const { settings } = readConfig(whole)
  expect(settings.map(({ name }) => name)).toEqual(rows.map(([name]) => getName(name)))
  const find = (name: string) => settings.find((each) => each.name === name)
  expect(find('PI_PORT')).toEqual({
    ...{ name: 'PI_PORT', section: 'Required and basic', value: '5000', defaultValue: '4747', isDefault: false },
    doc: 'Port to listen on. 0 takes any free port.',
  })
  expect(find('PI_POLL_MS_1')).toMatchObject({ section: 'Chain 1', value: '1000', isDefault: true })
  expect(find('PI_MIGRATE')).toMatchObject({ value: 'off on PostgreSQL, on on SQLite', isDefault: true })
  // Links of the page lead nowhere here.
  expect(settings.filter(({ doc, value }) => /\]\(|`/.test(doc + value) || doc === '')).toEqual([])
  expect(readConfig({ PI_MASTER_KEY: key, PI_DATABASE_URL: 'sqlite:a, b.db' }).settings).toContainEqual(
    expect.objectContaining({ name: 'PI_DATABASE_URL', value: 'sqlite:a, b.db' }),
  )
})

it.each(rows.filter(([, row]) => row.isSecret || row.isUrl || row.content).map(([name]) => getName(name)))(
  'no problem repeats a value of %s',
  (name) => {
    for (const value of ['CANARY', 'CANARY,CANARY', ' CANARY ü', 'https://a:CANARY@a.example:x', 'mysql://CANARY'])
      for (const others of [whole, { PI_MASTER_KEY: key }])
        expect(problemsIn(() => readConfig({ ...others, [name]: value })).join('\n')).not.toMatch(/CANARY/)
  },
)

describe('a variable that is read from a file', () => {
  const findProblems = (env: Environment, readFile?: ReadFile) => problemsIn(() => readConfig(env, readFile))

  it.each(secrets)('may be %s: every secret can', (name) => {
    const { [name]: value = '', ...others } = whole
    const holding = (path: string) => {
      expect(path).toBe(file)
      return ` ${value}\r\n`
    }
    const env = { ...others, [`${name}_FILE`]: file }
    expect(readConfig(env, holding)).toEqual(readConfig({ ...others, [name]: value.trim() }))
    const problem = `${name} and ${name}_FILE are both set; set one of them.`
    expect(findProblems({ ...env, [name]: value }, holding)).toEqual([problem])
  })

  it('is read from the disk, and only when it is named', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pi-config-'))
    writeFileSync(join(folder, 'url'), 'sqlite:other.db\n')
    const read = (path: string) => readConfig({ PI_MASTER_KEY: key, PI_DATABASE_URL_FILE: path }).database
    expect(read(join(folder, 'url'))).toEqual({ kind: 'sqlite', path: 'other.db' })
    expect(read('')).toMatchObject({ kind: 'sqlite' })
    rmSync(folder, { recursive: true })
  })

  it.each([
    [undefined, 'cannot be read (ENOENT)'],
    [' \n', 'is empty'],
    ['x'.repeat(65_537), 'has 65537 characters; 65536 at most'],
  ])('is a problem when the file holds %j; its path may be the secret itself', (content, flaw) => {
    const path = '/no/such/CANARY'
    const readFile = content === undefined ? undefined : () => content
    for (const [name, what] of [
      ['PI_DATABASE_URL_FILE', 'the value of PI_DATABASE_URL'],
      ['PI_RPC_URL_1_FILE', 'the value of PI_RPC_URL_1'],
    ] as const)
      expect(findProblems({ PI_MASTER_KEY: key, [name]: path }, readFile)).toContain(
        `${name} names a file which ${flaw}; expected one that holds ${what}.`,
      )
    const env = { PI_MASTER_KEY: key, PI_DATABASE_URL: 'postgres://db/p', PI_DATABASE_CA_FILE: path }
    expect(findProblems(env, readFile)).toEqual([
      `PI_DATABASE_CA_FILE names a file which ${flaw}; expected one that holds certificates as PEM text.`,
    ])
  })

  it('has a name of a secret: other names are unknown', () => {
    expect(findProblems({ PI_MASTER_KEY: key, PI_RPC_URL_1: 'http://a', PI_ROUTERS_1_FILE: file })).toEqual([
      'PI_ROUTERS_1_FILE ends in "1_FILE"; expected a chain id in plain digits, as in PI_RPC_URL_1.',
    ])
  })
})
