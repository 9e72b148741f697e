import { describe, expect, it } from 'vitest'
import { problemsIn } from '../../test/support/config-problems.js'
import { ConfigError } from './config.js'
import { readDatabaseConfig } from './database-variables.js'
import { describeConfig } from './describe-config.js'
import { readConfig } from './read-config.js'
import type { Environment, ReadFile } from './variables.js'

const PI_MASTER_KEY = '8d1070e587d50918b21bbdaaac32e4e0f0770414897be050dc71c1dac9d42db5'

const problemsOf = (env: Environment, readFile?: ReadFile) => problemsIn(() => readDatabaseConfig(env, readFile))

describe('the database', () => {
  it.each([
    ['sqlite:payments.db', undefined, true],
    ['sqlite:payments.db', 'off', false],
    ['postgres://db.example/payments', undefined, false],
    ['postgres://db.example/payments', 'on', true],
  ])('%s with PI_MIGRATE %s migrates at the start: %s', (url, value, migrates) => {
    expect(readConfig({ PI_MASTER_KEY, PI_DATABASE_URL: url, PI_MIGRATE: value }).migrates).toBe(migrates)
  })

  it('is all that a migration reads', () => {
    const connectionString = 'postgres://db.example/payments'
    expect(readDatabaseConfig({ PI_DATABASE_URL: connectionString })).toEqual({ kind: 'postgres', connectionString })
    expect(() => readDatabaseConfig({ PI_DATABASE_URL: 'mysql://db.example/payments' })).toThrow(ConfigError)
  })

  it.each([
    'postgres://app:canary#1@db.example/payments',
    'postgres://app:canary/1@db.example/payments',
    'postgres://app:canary?1@db.example/payments',
    'postgresql://app:12#canary@db.example/payments',
    'postgres://app:12/canary@db.example/payments',
    'postgres://app:12?canary@db.example/payments',
    'postgres://app:canary=/x=@db.example/payments',
    'postgres://app:a@canary#1@db.example/payments',
    'postgres://app:canary%@db.example/payments',
    'postgres://app#canary@db.example/payments',
    'postgres://app@db.example/pay#canary',
  ])('%s must be encoded, and the message repeats no part of it', (url) => {
    for (const name of ['PI_DATABASE_URL', 'PI_DATABASE_DIRECT_URL', 'PI_DATABASE_READ_URL']) {
      const problems = problemsOf({ PI_DATABASE_URL: 'postgres://app@db.example/payments', [name]: url })
      expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name} has a # .*encode it`))])
      expect(String(problems)).not.toMatch(/canary|app|example/)
    }
  })

  it.each([
    'postgres://app:can%23%2F%3F%25@db.example/payments',
    'postgres://app:p@ss:w@db.example/payments',
    'postgres://db.example:5432/payments?application_name=a@b',
    'postgres:///payments?host=/run/postgresql&user=a@b',
    'postgres://%2Frun%2Fpostgresql/payments',
  ])('%s needs no more encoding', (url) => expect(problemsOf({ PI_DATABASE_URL: url })).toEqual([]))

  const PI_DATABASE_URL = 'postgres://app@db.example/payments'
  const certificate = '-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----'

  it('may be reached through a pooler, past it, and at a standby', () => {
    const env = {
      PI_DATABASE_URL,
      PI_DATABASE_PREPARED: 'off',
      PI_DATABASE_DIRECT_URL: 'postgres://app@direct.example/payments',
      PI_DATABASE_READ_URL: 'postgres://app@standby.example/payments',
      PI_DATABASE_POOL: '20',
      PI_DATABASE_STATEMENT_TIMEOUT_MS: '5000',
      PI_DATABASE_LOCK_TIMEOUT_MS: '2000',
      PI_DATABASE_CA_FILE: '/etc/ssl/ca.pem',
      PI_DATABASE_ENGINE: 'citus',
    }
    expect(readDatabaseConfig(env, () => `${certificate}\n`)).toEqual({
      kind: 'postgres',
      connectionString: PI_DATABASE_URL,
      preparedStatements: false,
      directConnectionString: 'postgres://app@direct.example/payments',
      reader: { connectionString: 'postgres://app@standby.example/payments', maxLagMs: 1_000 },
      maxConnections: 20,
      statementTimeoutMs: 5_000,
      lockTimeoutMs: 2_000,
      ca: certificate,
      acceptedEngine: 'citus',
    })
  })

  it('is shown without users and passwords', () => {
    const url = (host: string) => `postgres://app:canary@${host}/payments`
    const config = readConfig({
      PI_MASTER_KEY,
      PI_DATABASE_URL: url('db.example'),
      PI_DATABASE_DIRECT_URL: url('direct.example'),
      PI_DATABASE_READ_URL: url('standby.example'),
    })
    const shown = describeConfig(config)
    expect(shown.connections).toMatchObject({
      direct: 'postgres://direct.example/payments',
      reader: 'postgres://standby.example/payments, at most 1000 ms behind',
    })
    expect(JSON.stringify(shown)).not.toContain('canary')
  })

  it.each<[string, Environment, string]>([
    ['a server variable with a file', { PI_DATABASE_POOL: '5' }, 'only used with PostgreSQL'],
    ['a bound without a standby', { PI_DATABASE_URL, PI_DATABASE_READ_MAX_LAG_MS: '50' }, 'PI_DATABASE_READ_URL'],
    ['an address of no PostgreSQL', { PI_DATABASE_URL, PI_DATABASE_DIRECT_URL: 'sqlite:a.db' }, 'has sqlite:'],
    ['an unknown mode', { PI_DATABASE_URL, PI_DATABASE_PREPARED: 'transaction' }, 'session, off'],
    ['a time-out out of range', { PI_DATABASE_URL, PI_DATABASE_LOCK_TIMEOUT_MS: '0' }, 'milliseconds from 100'],
    ['a product that is no name', { PI_DATABASE_URL, PI_DATABASE_ENGINE: 'My DB' }, 'ERR_STORE_ENGINE'],
  ])('%s is a problem', (_, env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(problem)])
  })

  it('with a certificate authority decides about TLS alone, and needs a certificate', () => {
    const env = { PI_DATABASE_URL: `${PI_DATABASE_URL}?sslmode=require`, PI_DATABASE_CA_FILE: '/ca.pem' }
    expect(problemsOf(env, () => certificate)).toEqual([expect.stringContaining('such as sslmode')])
    expect(problemsOf({ ...env, PI_DATABASE_URL }, () => 'nothing')).toEqual([
      'PI_DATABASE_CA_FILE names a file without a certificate; expected PEM text.',
    ])
    expect(problemsOf({ ...env, PI_DATABASE_URL, PI_DATABASE_CA_FILE: '/no/such/file' })).toEqual([
      expect.stringContaining('cannot be read (ENOENT); expected one that holds certificates as PEM text'),
    ])
  })
})
