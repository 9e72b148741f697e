import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testMasterKey } from '../test/master-key.js'
import { temporaryFolder } from '../test/temporary-folder.js'
import { testIo } from '../test/test-io.js'
import { runCli } from './run-cli.js'
import { findMissingDatabase, withFlags } from './with-service.js'

const password = 'hunter2-of-the-test'

describe('withFlags', () => {
  it('options override their variables, --database all of the database, and change no other variable', () => {
    const databases = { PI_DATABASE_URL_FILE: '/run/secrets/url', PI_DATABASE_READ_URL: 'postgres://b/c' }
    const env = { ...databases, PI_HOST: '::1', PI_PORT: '1', PI_MASTER_KEY: 'x' }
    expect(withFlags(env, {})).toEqual(env)
    const database = {
      PI_DATABASE_URL: 'sqlite:b.db',
      PI_DATABASE_URL_FILE: undefined,
      PI_DATABASE_READ_URL: undefined,
    }
    const flags = { database: 'sqlite:b.db', host: '0.0.0.0', port: 0 }
    expect(withFlags(env, flags)).toEqual({ ...env, ...database, PI_HOST: '0.0.0.0', PI_PORT: '0' })
  })

  it.each([
    ...['', 'sqlite:payments.db', 'sqlite:/srv/a:b@c/payments.db', 'sqlite:./a?password=b.db'],
    ...['postgres://127.0.0.1/payments', 'postgres://app:@db.example/payments'],
    'postgres://app@db.example:5432/payments?sslmode=require',
    'postgresql://app@db.example/payments?application_name=a:b@c',
  ])('accepts a database URL without a password: %j', (database) => {
    expect(withFlags({}, { database })).toMatchObject({ PI_DATABASE_URL: database })
  })

  it('accepts a password in the variable, which other users cannot see', () => {
    const env = { PI_DATABASE_URL: `postgres://app:${password}@db.example/payments` }
    expect(withFlags(env, {})).toEqual(env)
  })
})

describe('--database with a password', () => {
  const urls = [
    `postgres://app:${password}@db.example/payments`,
    `postgresql://app:${password}@db.example:5432/payments?sslmode=require`,
    `POSTGRES://app:${password}@db.example/payments`,
    `postgres://db.example/payments?user=app&password=${password}`,
    `postgres://app:${password}/with-a-slash@db.example/payments`,
    `postgres://app:${password}#with-a-hash@db.example/payments`,
    `postgres://app:${password} with a space@db.example/payments`,
  ]

  it.each(urls.flatMap((url) => [[['serve', '--database', url]], [['integrations', 'list', `--database=${url}`]]]))(
    '%j exits with 2, names the variable for it, and does not print it',
    async (args) => {
      const io = testIo()
      expect(await runCli(args, io)).toBe(2)
      expect(io.errors).toEqual([
        '--database contains a password, and other users of this machine can see arguments. Set PI_DATABASE_URL, or PI_DATABASE_URL_FILE to the path of a file with the URL. Change the password if others use this machine.',
      ])
      expect(io.lines).toEqual([])
    },
  )

  it('--debug does not print it either', async () => {
    const io = testIo()
    await runCli(['serve', '--debug', '--database', urls[0] ?? ''], io)
    expect(io.errors.join('\n')).toContain('UsageError')
    expect(io.errors.join('\n')).not.toContain(password)
  })
})

const inFolder = (...names: string[]) => join(temporaryFolder(), ...names)
it('a path through a missing folder or through a file is a missing database', async () => {
  const file = inFolder('file')
  writeFileSync(file, '')
  for (const path of [inFolder('no', 'such', 'folder.db'), join(file, 'x.db')]) {
    const finding = findMissingDatabase({ kind: 'sqlite', path }, false)
    await expect(finding).rejects.toMatchObject({ name: 'DatabaseMissingError', code: 'ERR_DATABASE_MISSING' })
  }
})

describe('a command on a missing database', () => {
  const address = `0x${'a1'.repeat(20)}`
  const onIntegration = ['disable', 'enable', 'rotate-secret'].map((command) => `integrations ${command} ${address}`)
  const onDeliveries = ['list', 'show 1', 'replay 1', 'replay-failed --all', 'endpoints']
  it.each([
    ...['integrations list', ...onIntegration, `integrations set-url ${address} none`],
    `integrations rotate-secret ${address} --signing --prepare`,
    ...['list', 'show shop', `change shop --address ${address}`, 'remove shop'].map((words) => `accounts ${words}`),
    ...onDeliveries.map((words) => `deliveries ${words}`),
    ...['migrate plan', 'migrate apply', 'migrate contract', 'backup copy.db'],
  ])('%s names the path, exits with 1 and creates no file', async (words) => {
    const path = inFolder('service.db')
    const io = testIo({ env: { PI_MASTER_KEY: testMasterKey, PI_DATABASE_URL: `sqlite:${path}` } })
    expect({ exitCode: await runCli(words.split(' '), io), lines: io.lines }).toEqual({ exitCode: 1, lines: [] })
    expect(io.errors.join()).toContain(`There is no database at ${path}.`)
    expect(existsSync(path)).toBe(false)
  })
})
