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
    const env = {
      PI_DATABASE_URL_FILE: '/run/secrets/url',
      PI_DATABASE_READ_URL: 'postgres://b/c',
      PI_HOST: '::1',
      PI_PORT: '1',
      PI_MASTER_KEY: 'x',
    }
    expect(withFlags(env, {})).toEqual(env)
    expect(withFlags(env, { database: 'sqlite:b.db', host: '0.0.0.0', port: 0 })).toEqual({
      ...env,
      PI_DATABASE_URL: 'sqlite:b.db',
      PI_DATABASE_URL_FILE: undefined,
      PI_DATABASE_READ_URL: undefined,
      PI_HOST: '0.0.0.0',
      PI_PORT: '0',
    })
  })

  it.each([
    'sqlite:payments.db',
    'sqlite:/srv/a:b@c/payments.db',
    'sqlite:./a?password=b.db',
    'postgres://127.0.0.1/payments',
    'postgres://app@db.example:5432/payments?sslmode=require',
    'postgresql://app@db.example/payments?application_name=a:b@c',
    'postgres://app:@db.example/payments',
    '',
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
const sqlite = (path: string) => ({ kind: 'sqlite', path }) as const
const rejection = { name: 'DatabaseMissingError', code: 'ERR_DATABASE_MISSING' }

describe('findMissingDatabase', () => {
  it('returns the path of a missing file that may be created, without creating it', async () => {
    const path = inFolder('service.db')
    expect(await findMissingDatabase(sqlite(path), true)).toBe(path)
    expect(existsSync(path)).toBe(false)
  })

  it('rejects a missing file that may not be created, with its absolute path', async () => {
    const path = inFolder('service.db')
    await expect(findMissingDatabase(sqlite(path), false)).rejects.toMatchObject({
      ...rejection,
      message: expect.stringContaining(`There is no database at ${path}.`),
    })
  })

  it.each([true, false])('returns null for a file that exists (may create: %s)', async (mayCreate) => {
    const path = inFolder('service.db')
    writeFileSync(path, '')
    expect(await findMissingDatabase(sqlite(path), mayCreate)).toBeNull()
  })

  it('rejects a path through a missing folder or through a file', async () => {
    const file = inFolder('file')
    writeFileSync(file, '')
    for (const path of [inFolder('no', 'such', 'folder.db'), join(file, 'x.db')])
      await expect(findMissingDatabase(sqlite(path), false)).rejects.toMatchObject(rejection)
  })

  it('ignores a database that is not SQLite', async () => {
    const database = { kind: 'postgres', connectionString: 'postgres://127.0.0.1/none' } as const
    expect(await findMissingDatabase(database, false)).toBeNull()
  })
})

describe('a command on a missing database', () => {
  const address = `0x${'a1'.repeat(20)}`
  it.each([
    'integrations list',
    `integrations disable ${address}`,
    `integrations enable ${address}`,
    `integrations set-url ${address} none`,
    `integrations rotate-secret ${address}`,
    `integrations rotate-secret ${address} --signing --prepare`,
    'accounts list',
    'accounts show shop',
    `accounts change shop --address ${address}`,
    'accounts remove shop',
    'deliveries list',
    'deliveries show 1',
    'deliveries replay 1',
    'deliveries replay-failed --all',
    'deliveries endpoints',
    'backup copy.db',
  ])('%s names the path, exits with 1 and creates no file', async (words) => {
    const path = inFolder('service.db')
    const io = testIo({ env: { PI_MASTER_KEY: testMasterKey, PI_DATABASE_URL: `sqlite:${path}` } })
    expect({ exitCode: await runCli(words.split(' '), io), lines: io.lines }).toEqual({ exitCode: 1, lines: [] })
    expect(io.errors.join()).toContain(`There is no database at ${path}.`)
    expect(existsSync(path)).toBe(false)
  })
})
