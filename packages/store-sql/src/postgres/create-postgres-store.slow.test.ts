import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { describe, expect, test } from 'vitest'
import { deferred } from '../../../core/test/support/until.js'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onOwnPostgres } from '../../test/support/on-postgres.js'
import { parseHex } from '../internal/values.js'
import { createPostgresStore, type PostgresStoreOptions } from './create-postgres-store.js'

const { failed, hash, indexAll, indexed, primary, settleOne, shop } = fixtures

describe('options', () => {
  const connectionString = 'postgres://app:s3cret@127.0.0.1:1/db'
  const pool = {} as pg.Pool
  const reader = { connectionString: 'postgres://127.0.0.1/none', maxLagMs: 100 }
  const cases: readonly (readonly [name: string, options: PostgresStoreOptions, message?: string])[] = [
    ['neither address nor pool', {}],
    ['both address and pool', { connectionString, pool }],
    ['an address of another database', { connectionString: 'mysql://app:s3cret@127.0.0.1/db' }],
    ['an empty address', { connectionString: '' }],
    ...['a"; drop table x', 'Payments', '', 'a'.repeat(64)].map(
      (schema) => [`the schema '${schema}'`, { connectionString, schema }] as const,
    ),
    ['prepared statements that are neither on nor off', { connectionString, preparedStatements: 'off' as never }],
    ['a size for a pool of the caller', { pool, maxConnections: 5 }, 'maxConnections is given together with pool'],
    ['a limit for a pool of the caller', { pool, lockTimeoutMs: 1_000 }, 'lockTimeoutMs is given together with pool'],
    ['a standby beside a pool of the caller', { pool, reader }, 'reader is given together with pool'],
    [
      'an authority beside an address with a parameter for TLS',
      { connectionString: `${connectionString}?sslmode=require`, ca: 'PEM' },
      'connectionString has a parameter for TLS',
    ],
  ]
  for (const [name, options, message] of cases)
    test(`${name} is a TypeError that holds no password`, () => {
      expect(() => createPostgresStore(options)).toThrow(TypeError)
      expect(() => createPostgresStore(options)).toThrow(message ?? TypeError)
      expect(() => createPostgresStore(options)).not.toThrow(/s3cret/)
    })

  test.each([0, 1.5])('%d connections are a RangeError', (maxConnections) => {
    expect(() => createPostgresStore({ connectionString, maxConnections })).toThrow(RangeError)
  })

  test('an unreachable server is unavailable, and the message contains no password', async () => {
    const store = createPostgresStore({ connectionString })
    const error: unknown = await store.ping().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'StoreError', code: 'ERR_STORE_UNAVAILABLE', retryable: true })
    expect(String(error)).toMatch(/ECONNREFUSED/)
    expect(String(error)).not.toMatch(/s3cret/)
    await store.close()
    await store.close()
    await expect(store.ping()).rejects.toThrow(/closed/)
  })
})

onOwnPostgres('with a real server', {}, (postgres) => {
  const { admin, connectionString, nextSchema, pool: callerPool, open, openMigrated } = postgres

  test('a pool of the caller is used, left open by close, and keeps its listeners', async () => {
    const pool = callerPool({ max: 2 })
    const schema = nextSchema()
    const store = createPostgresStore({ pool, schema })
    await store.migrate()
    await fixtures.insertIntegration(store)
    const client = await pool.connect()
    expect(client.listenerCount('error')).toBe(0)
    client.release()
    await store.close()
    await expect(store.ping()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    const { rows } = await pool.query(`select address from ${schema}.integrations`)
    expect(rows).toEqual([{ address: parseHex(shop) }])
  })

  for (const preparedStatements of [undefined, true, false])
    test(`with preparedStatements ${preparedStatements} a connection ${preparedStatements === false ? 'keeps no plan' : 'keeps the plans of few statements, whatever is asked'}`, async () => {
      const pool = callerPool({ max: 1 })
      const schema = nextSchema()
      await open({ schema }).migrate()
      const store = createPostgresStore({ pool, schema, preparedStatements })
      const payment = await indexed(store)
      const kept = async () => (await pool.query('select name from pg_prepared_statements')).rows.length
      const ask = async (limit: number) => {
        for (const wallet of [undefined, payment.sender]) {
          const list = { integrationAddress: shop, wallet, limit }
          expect((await store.payments.list(list)).payments).toEqual([payment])
          expect((await store.payments.list({ ...list, after: { ...payment, asOf: 0 } })).payments).toEqual([])
          expect(await store.payments.findByHash({ ...list, txHash: payment.txHash })).toEqual([payment])
        }
        expect((await store.payments.transaction(payment)).payments).toEqual([payment])
      }
      await ask(50)
      expect(await kept()).toBe(preparedStatements === false ? 0 : 7)
      for (let limit = 1; limit <= 200; limit += 1) await ask(limit)
      // Four shapes of a page in four sizes, and the three look-ups.
      expect(await kept()).toBe(preparedStatements === false ? 0 : 4 * 4 + 3)
    })

  test('everything is in the schema of the store, next to other stores and tables of the same names', async () => {
    await admin().query('create table if not exists public.payments (mine text)')
    const [one, other] = [await openMigrated(), open()]
    await other.migrate()
    await indexed(one)
    expect(await other.integrations.list()).toEqual([])
    expect(await other.deliveries.list({ limit: 10 })).toEqual([])
    await Promise.all([
      one.transaction(async (tx) => {
        await tx.lockChain(1)
        // A lock of the same chain in another schema is another lock.
        await other.integrations.list()
        await delay(1)
      }),
      other.transaction((tx) => tx.lockChain(1)),
    ])
    expect((await admin().query('select * from public.payments')).rows).toEqual([])
  })

  test('eight stores may migrate one new schema at once', async () => {
    const schema = nextSchema()
    const stores = Array.from({ length: 8 }, () => open({ schema, maxConnections: 2 }))
    await Promise.all(stores.map((store) => store.migrate()))
    const { rows } = await admin().query(`select version from ${schema}.schema_versions`)
    expect(rows).toEqual([{ version: '200' }])
  })

  test('in a schema of the operator, migrate needs no right to create a schema', async () => {
    const schema = nextSchema()
    await admin().query(`create role limited login; create schema ${schema} authorization limited`)
    const connectionString = postgres.connectionString('limited')
    await openMigrated({ connectionString, schema })
    await expect(open({ connectionString }).migrate()).rejects.toMatchObject({ code: '42501' })
  })

  test('a role that may only read and write rows is enough once the schema is current', async () => {
    const schema = nextSchema()
    await open({ schema }).migrate()
    await admin().query(`
      create role worker login;
      grant usage on schema ${schema} to worker;
      grant select, insert, update, delete on all tables in schema ${schema} to worker`)
    await expect(admin().query(`set role worker; create table ${schema}.x ()`)).rejects.toMatchObject({ code: '42501' })
    const connectionString = postgres.connectionString('worker')
    const store = open({ connectionString, schema })
    await Promise.all([store.migrate(), store.migrate()])
    await fixtures.insertIntegration(store)
    const { txHash } = await indexed(store)
    const [claim] = await store.deliveries.claim({ limit: 1, leaseMs: 60_000 })
    expect(claim?.txHash).toBe(txHash)
    await store.transaction((tx) => tx.setCheckpoint(1, { blockNumber: 1, blockHash: hash(1) }))
    expect(await store.payments.checkpoint(1)).toEqual({ blockNumber: 1, blockHash: hash(1) })
  })

  test('two transactions in a deadlock both commit', async () => {
    const store = open()
    await store.migrate()
    await indexAll(store, [primary({ txHash: hash(1) }), primary({ txHash: hash(2) })])
    let runs = 0
    let holding = 0
    const met = deferred()
    const change = (first: number, second: number) =>
      store.transaction(async (tx) => {
        runs += 1
        await tx.paymentsForChange({ chainId: 1, txHash: hash(first) })
        holding += 1
        if (holding === 2) met.resolve()
        await met.promise
        for (const payment of await tx.paymentsForChange({ chainId: 1, txHash: hash(second) }))
          await fixtures.setStatus(tx, payment.id, { ...payment, version: payment.version + 1 })
      })
    await Promise.all([change(1, 2), change(2, 1)])
    // One at least ran again. On a slow machine a repeat may meet the other one's lock and be the next victim.
    expect(runs).toBeGreaterThanOrEqual(3)
    const { payments } = await store.payments.list({ integrationAddress: shop, limit: 10 })
    expect(payments.map(({ version }) => version)).toEqual([2, 2])
  })

  test('a repeated conflict is busy after five attempts', async () => {
    const store = open()
    let runs = 0
    const conflict = store.transaction(() => {
      runs += 1
      return Promise.reject(Object.assign(new Error('serialization failure'), { code: '40001' }))
    })
    await expect(conflict).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
    expect(runs).toBe(5)
  })

  test.each([
    ['a lock that is not released in time', { lock_timeout: 500 }],
    ['a statement that runs too long', { statement_timeout: 500 }],
  ])('%s is busy', async (_, limit) => {
    const schema = nextSchema()
    const store = await openMigrated({ schema })
    const hurried = createPostgresStore({ pool: callerPool(limit), schema })
    await store.transaction(async (tx) => {
      await tx.lockChain(1)
      // Started within this transaction's work, but not by it: the other store is another client.
      await expect(hurried.transaction((other) => other.lockChain(1))).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
    })
    expect(await hurried.transaction((other) => other.lockChain(1))).toBeNull()
  })

  test('no free connection, in the pool or at the server, is busy', async () => {
    const pool = callerPool({ max: 1, connectionTimeoutMillis: 1_000 })
    const store = createPostgresStore({ pool, schema: nextSchema() })
    const client = await pool.connect()
    await expect(store.ping()).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
    client.release()
    await store.ping()

    await pool.query('create role crowded login connection limit 0')
    const crowded = open({ connectionString: connectionString('crowded') })
    await expect(crowded.ping()).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
  })

  test('text compares by its bytes with any collation of the database', async () => {
    const schema = nextSchema()
    await open({ schema }).migrate()
    const { rows } = await admin().query(
      `select distinct collation_name from information_schema.columns
       where table_schema = $1 and data_type = 'text'
         and column_name in ('tx_hash', 'handle', 'integration', 'address', 'outcome')`,
      [schema],
    )
    expect(rows).toEqual([{ collation_name: 'C' }])
  })

  test('leases end by an injected clock', async () => {
    let now = 1_000
    const store = await openMigrated({ clock: { now: () => now } })
    await indexed(store)
    const [claim] = await store.deliveries.claim({ limit: 1, leaseMs: 5_000 })
    expect(await store.deliveries.msUntilDue()).toBe(5_000)
    expect((await store.deliveries.list({ limit: 1 }))[0]?.nextAttemptAt).toBe(6_000)
    now = 5_999
    expect(await store.deliveries.claim({ limit: 1, leaseMs: 5_000 })).toEqual([])
    now = 6_000
    const [again] = await store.deliveries.claim({ limit: 1, leaseMs: 5_000 })
    expect(again?.deliveryId).toBe(claim?.deliveryId)
    if (again === undefined) return
    await settleOne(store, again, failed, { kind: 'retry', inMs: 250 })
    expect(await store.deliveries.msUntilDue()).toBe(250)
  })
})
