import { describe, expect, it } from 'vitest'
import { ConfigError } from './config.js'
import { readDatabaseConfig } from './database-variables.js'
import { readConfig } from './read-config.js'

const PI_MASTER_KEY = '8d1070e587d50918b21bbdaaac32e4e0f0770414897be050dc71c1dac9d42db5'

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
})
