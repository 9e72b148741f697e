/** Options that the PostgreSQL adapter rejects at construction. */
import type pg from 'pg'
import { expect, test } from 'vitest'
import { createPostgresVersionStore, postgresVersionTable } from '../src/exports/postgres.js'

const nothing = () => undefined

test.each([undefined, null, {}, 'postgres://localhost', { query: nothing }])(
  'the database %j is rejected',
  (database) => {
    expect(() => createPostgresVersionStore({ database: database as unknown as pg.Pool })).toThrow(TypeError)
  },
)

test('drizzle without its sql is rejected', () => {
  const database = { execute: nothing, transaction: nothing }
  expect(() => createPostgresVersionStore({ database } as never)).toThrow(/sql is missing/)
})

const shape = { connect: nothing, query: nothing }
test.each(['', 'A', '1a', 'a-b', 'a.b.c', '"a"', 'a;DROP TABLE x', 'a'.repeat(64)])(
  'the table name %j is rejected',
  (table) => {
    expect(() => createPostgresVersionStore({ database: shape, table })).toThrow(TypeError)
    expect(() => postgresVersionTable(table)).toThrow(TypeError)
  },
)

test.each(['busyTimeoutMs', 'statementTimeoutMs', 'idleTimeoutMs'])('%s must be milliseconds', (name) => {
  for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY, '5'])
    expect(() => createPostgresVersionStore({ database: shape, [name]: ms })).toThrow(RangeError)
})
