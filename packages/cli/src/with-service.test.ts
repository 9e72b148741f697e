import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../test/temporary-folder.js'
import { testIo } from '../test/test-io.js'
import { runCli } from './run-cli.js'
import { findMissingDatabase, withFlags } from './with-service.js'

const password = 'hunter2-of-the-test'

describe('withFlags', () => {
  it('lays the flags over the environment, and leaves alone what no flag names', () => {
    const env = { PI_DATABASE_URL_FILE: '/run/secrets/url', PI_HOST: '::1', PI_PORT: '1', PI_MASTER_KEY: 'x' }
    expect(withFlags(env, {})).toEqual(env)
    expect(withFlags(env, { database: 'sqlite:b.db', host: '0.0.0.0', port: 0 })).toEqual({
      ...env,
      PI_DATABASE_URL: 'sqlite:b.db',
      PI_DATABASE_URL_FILE: undefined,
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
  ])('takes a database without a password: %j', (database) => {
    expect(withFlags({}, { database })).toMatchObject({ PI_DATABASE_URL: database })
  })

  it('takes a password from the variable: other users cannot see it there', () => {
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
    '%j ends 2, says where it belongs and does not repeat it',
    async (args) => {
      const io = testIo()
      expect(await runCli(args, io)).toBe(2)
      expect(io.errors).toEqual([
        '--database holds a password, and other users of this machine can see arguments; set PI_DATABASE_URL instead, or PI_DATABASE_URL_FILE to the path of a file that holds the URL. Change the password if others use this machine.',
      ])
      expect(io.lines).toEqual([])
    },
  )

  it('repeats it with --debug no more than without', async () => {
    const io = testIo()
    await runCli(['serve', '--debug', '--database', urls[0] ?? ''], io)
    expect(io.errors.join('\n')).toContain('UsageError')
    expect(io.errors.join('\n')).not.toContain(password)
  })
})

const inFolder = (...names: string[]) => join(temporaryFolder(), ...names)
const sqlite = (path: string) => ({ kind: 'sqlite', path }) as const
const refusal = { name: 'DatabaseMissingError', code: 'ERR_DATABASE_MISSING' }

describe('findMissingDatabase', () => {
  it('returns the path of a missing file that may be created, and leaves that to the store', async () => {
    const path = inFolder('service.db')
    expect(await findMissingDatabase(sqlite(path), true)).toBe(path)
    expect(existsSync(path)).toBe(false)
  })

  it('refuses a missing file otherwise and names its whole path', async () => {
    const path = inFolder('service.db')
    await expect(findMissingDatabase(sqlite(path), false)).rejects.toMatchObject({
      ...refusal,
      message: expect.stringContaining(`There is no database at ${path}.`),
    })
  })

  it.each([true, false])('returns null for a file that exists (may create: %s)', async (mayCreate) => {
    const path = inFolder('service.db')
    writeFileSync(path, '')
    expect(await findMissingDatabase(sqlite(path), mayCreate)).toBeNull()
  })

  it('refuses a path through a folder or a file that cannot hold it, when it may not create', async () => {
    const file = inFolder('file')
    writeFileSync(file, '')
    for (const path of [inFolder('no', 'such', 'folder.db'), join(file, 'x.db')])
      await expect(findMissingDatabase(sqlite(path), false)).rejects.toMatchObject(refusal)
  })

  it('looks for no file of a server', async () => {
    const database = { kind: 'postgres', connectionString: 'postgres://127.0.0.1/none' } as const
    expect(await findMissingDatabase(database, false)).toBeNull()
  })
})
