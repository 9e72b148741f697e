/** Options that the adapters reject at construction. */
import { expect, test } from 'vitest'
import { createPostgresVersionStore, postgresVersionTable } from '../src/exports/postgres.js'
import { createRedisVersionStore } from '../src/exports/redis.js'
import { createSqliteVersionStore } from '../src/exports/sqlite.js'

const nothing = () => undefined
const sqlite = { database: { exec: nothing, prepare: nothing } }
const postgres = { database: { connect: nothing, query: nothing } }
const redis = { redis: { call: nothing } }
const openSqlite = (options: unknown) => createSqliteVersionStore(options as never)
const openPostgres = (options: unknown) => createPostgresVersionStore(options as never)
const openRedis = (options: unknown) => createRedisVersionStore(options as never)

test.each([
  ['createSqliteVersionStore', openSqlite, /^database has no prepare\(\)/],
  ['createPostgresVersionStore', openPostgres, /^database is none of/],
])('%s() rejects what is no connection with a TypeError that names the option', (_, open, message) => {
  const connections = [undefined, null, {}, 'receiver.db', { query: nothing }]
  for (const options of [undefined, null, ...connections.map((database) => ({ database }))]) {
    expect(() => open(options)).toThrow(TypeError)
    expect(() => open(options)).toThrow(message)
  }
})

test.each([undefined, null, {}, 'redis://localhost'])('the Redis client %j is rejected', (client) => {
  expect(() => openRedis({ redis: client })).toThrow(TypeError)
})

test('drizzle without its sql is rejected', () => {
  expect(() => openPostgres({ database: { execute: nothing, transaction: nothing } })).toThrow(/sql is missing/)
})

test.each(['', '1a', 'a-b', 'a b', 'a;DROP TABLE x', '"a"', 'a'.repeat(64), 'é'])(
  'the table name %j is rejected',
  (table) => {
    expect(() => openSqlite({ ...sqlite, table })).toThrow(TypeError)
    expect(() => openPostgres({ ...postgres, table })).toThrow(TypeError)
    expect(() => postgresVersionTable(table)).toThrow(TypeError)
  },
)

test.each(['A', 'a.b.c'])('the table name %j is rejected for PostgreSQL', (table) => {
  expect(() => openPostgres({ ...postgres, table })).toThrow(TypeError)
  expect(() => postgresVersionTable(table)).toThrow(TypeError)
})

test.each([
  ['busyTimeoutMs', openSqlite, sqlite, [2_147_483_648]],
  ['busyTimeoutMs', openPostgres, postgres, [2_147_483_648]],
  ['statementTimeoutMs', openPostgres, postgres, []],
  ['idleTimeoutMs', openPostgres, postgres, []],
  ['leaseMs', openRedis, redis, [0, 1.5]],
])('%s must be milliseconds', (name, open, options, more) => {
  for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY, '5', ...more])
    expect(() => open({ ...options, [name]: ms })).toThrow(RangeError)
})
