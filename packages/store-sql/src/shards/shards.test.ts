import { setTimeout as wait } from 'node:timers/promises'
import { fixtures } from '@payment-integration/core/conformance'
import type { Store } from '@payment-integration/core/ports'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../test/postgres.js'
import { type EmptiedDatabase, emptiedOnPostgres } from '../../test/support/migrated-databases.js'
import { createPostgresStore, joinPostgresTransaction } from '../exports/postgres.js'
import { hexBytes } from '../internal/hex.js'
import { byShard, createShardMap, isShardCount } from './shard-map.js'

const { address, answered, claimOne, decided, hash, indexed, insertUpdate, integration, nextVersion, primary } =
  fixtures
const { settleOne, update, waiting } = fixtures

const shards = 4
const map = createShardMap(shards)
/** An integration of a shard. */
const ofShard = (shard: number) => {
  let n = 1
  while (map.ofIntegration(address(n)) !== shard) n += 1
  return address(n)
}
/** A transaction whose directory is in a shard. */
const hashIn = (shard: number) => {
  let n = 1
  while (map.ofTransaction(hash(n)) !== shard) n += 1
  return hash(n)
}

test('a database has 1 shard, or a power of two up to 64', () => {
  expect(Array.from({ length: 130 }, (_, n) => n).filter(isShardCount)).toEqual([1, 2, 4, 8, 16, 32, 64])
  expect([0.5, -2, Number.NaN].some(isShardCount)).toBe(false)
})

test('integrations, transactions and updates are spread over all shards', () => {
  const numbers = Array.from({ length: 1_000 }, (_, n) => n)
  for (const shardOf of [
    (n: number) => map.ofIntegration(address(n)),
    (n: number) => map.ofTransaction(hash(n)),
    (n: number) => map.ofUpdate(`update ${n}`),
  ])
    for (const [, own] of byShard(numbers, shardOf)) expect(own.length).toBeGreaterThan(150)
})

test('a payment without an integration is in shard 0, and an id names its shard', () => {
  expect(map.ofIntegration(null)).toBe(0)
  expect(['4', '5', '1000000000003'].map(map.ofId)).toEqual([0, 1, 3])
})

describe.skipIf(postgresMissing)(
  `a database in shards${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    const schema = 'sharded'
    let server: TestDatabase
    let database: EmptiedDatabase
    let admin: pg.Client
    let store: Store
    /** The texts of the statements since {@link texts} was emptied. */
    const texts: string[] = []
    class NotingClient extends pg.Client {
      // biome-ignore lint/suspicious/noExplicitAny: the signatures of pg are overloads
      override query(...given: any[]): any {
        const [first] = given as [string | { readonly text?: string }]
        texts.push(typeof first === 'string' ? first : (first.text ?? ''))
        return (super.query as (...input: unknown[]) => unknown).apply(this, given)
      }
    }
    beforeAll(async () => {
      server = await createTestDatabase()
      database = await emptiedOnPostgres(server, schema, shards)
      admin = new pg.Client({ connectionString: server.connectionString })
      await admin.connect()
    })
    afterAll(async () => {
      await admin?.end()
      await database?.close()
      await server?.remove()
    })
    const closing: (() => Promise<unknown>)[] = []
    afterEach(async () => {
      for (const close of closing.splice(0)) await close()
    })
    async function open(): Promise<Store> {
      await database.empty()
      const pool = new pg.Pool({ connectionString: server.connectionString, Client: NotingClient } as pg.PoolConfig)
      store = createPostgresStore({ pool, schema, shards })
      closing.push(
        () => store.close(),
        () => pool.end(),
      )
      return store
    }
    const countIn = async (table: string) => {
      const counts: number[] = []
      for (let shard = 0; shard < shards; shard += 1)
        counts.push(Number((await admin.query(`select count(*) as n from ${schema}_s${shard}.${table}`)).rows[0]?.n))
      return counts
    }
    const only = (shard: number, count = 1) => Array.from({ length: shards }, (_, n) => (n === shard ? count : 0))
    /** The schemas that a statement names. */
    const schemasOf = (text: string) => new Set(text.match(/"sharded(?:_s\d+)?"/g))

    test('every statement of indexing, updating, claiming, settling and reading names one schema', async () => {
      await open()
      for (let shard = 0; shard < shards; shard += 1)
        await store.integrations.insert(integration({ address: ofShard(shard) }))
      texts.length = 0
      for (let shard = 0; shard < shards; shard += 1) {
        const payment = await indexed(store, { txHash: hash(shard), integrationAddress: ofShard(shard) })
        await nextVersion(store, payment)
        await store.transaction((tx) => insertUpdate(tx, decided(payment, { update: update({ id: `u${shard}` }) })))
        await settleOne(store, await claimOne(store), answered, { kind: 'delivered' })
        await store.payments.list({ integrationAddress: ofShard(shard), limit: 10 })
        await store.payments.transaction({ chainId: 1, txHash: hash(shard) })
      }
      const statements = texts.filter((text) => schemasOf(text).size > 0)
      expect(statements.length).toBeGreaterThan(40)
      expect(statements.filter((text) => schemasOf(text).size > 1)).toEqual([])
      expect(new Set(statements.flatMap((text) => [...schemasOf(text)])).size).toBeGreaterThanOrEqual(shards)
    })

    test('the pages, claims of one integration and snapshots of a payment read the shard of the integration alone', async () => {
      await open()
      const own = ofShard(2)
      await store.integrations.insert(integration({ address: own }))
      const payment = await indexed(store, { integrationAddress: own })
      texts.length = 0
      await store.payments.list({ integrationAddress: own, limit: 10 })
      await store.payments.findByHash({ integrationAddress: own, txHash: hash(1) })
      await store.payments.snapshot(payment.id, 1)
      await store.integrations.find(own)
      await store.deliveries.stream({ integrationAddress: own, afterId: '0', upToId: '999', limit: 10 })
      expect(new Set(texts.flatMap((text) => [...schemasOf(text)]))).toEqual(new Set([`"${schema}_s2"`]))
    })

    test('rows are in the shard of their integration, and the directory in that of their transaction', async () => {
      await open()
      const [own, txHash] = [ofShard(3), hashIn(1)]
      await store.integrations.insert(integration({ address: own }))
      const { id } = await indexed(store, { integrationAddress: own, txHash })
      expect(map.ofId(id)).toBe(3)
      for (const table of ['integrations', 'payments', 'snapshots', 'outbox', 'unsettled'])
        expect([table, await countIn(table)]).toEqual([table, only(3)])
      expect(await countIn('payment_shards')).toEqual(only(1))
    })

    test('PostgreSQL refuses a row in the tables of another shard', async () => {
      await open()
      const { id } = await indexed(store, { integrationAddress: ofShard(3) })
      const table = (shard: number, name: string) => `${schema}_s${shard}.${name}`
      const refused: [string, string, unknown[]][] = [
        ['payments', `insert into ${table(1, 'payments')} select * from ${table(3, 'payments')}`, []],
        ['snapshots', `insert into ${table(1, 'snapshots')} select * from ${table(3, 'snapshots')}`, []],
        ['unsettled', `insert into ${table(1, 'unsettled')} values (1, $1)`, [id]],
        ['payment_moves', `insert into ${table(1, 'payment_moves')} values ($1, 1, '\\x00', 1)`, [id]],
        [
          'payment_shards',
          `insert into ${table(1, 'payment_shards')} (chain_id, ordinal, shard, tx_hash) values (1, 0, 1, $1)`,
          [hexBytes(hashIn(2))],
        ],
      ]
      for (const [name, statement, values] of refused)
        await expect(admin.query(statement, values), name).rejects.toMatchObject({ constraint: `${name}_shard` })
    })

    test('a payment that was mined again keeps the shard of its first integration', async () => {
      await open()
      const [first, second] = [ofShard(1), ofShard(2)]
      const { id } = await indexed(store, { integrationAddress: first })
      const again = await store.transaction((tx) =>
        tx.upsertPayments([primary({ integrationAddress: second, blockNumber: 101 })]),
      )
      expect(again.inserted).toEqual([])
      const { payments } = await store.payments.transaction({ chainId: 1, txHash: hash(1) })
      expect(payments).toMatchObject([{ id, integrationAddress: first, blockNumber: 101 }])
      expect(await countIn('payments')).toEqual(only(1))
    })

    test('one transaction of two integrations is found in both shards', async () => {
      await open()
      const facts = [1, 2].map((shard, ordinal) => ({ ordinal, logIndex: ordinal, integrationAddress: ofShard(shard) }))
      await store.transaction((tx) => tx.upsertPayments(facts.map((changes) => primary(changes))))
      const { payments } = await store.payments.transaction({ chainId: 1, txHash: hash(1) })
      expect(payments.map(({ integrationAddress }) => integrationAddress)).toEqual([ofShard(1), ofShard(2)])
      const locked = await store.transaction((tx) => tx.paymentsForChange({ chainId: 1, txHash: hash(1) }))
      expect(locked.map(({ ordinal }) => ordinal)).toEqual([0, 1])
    })

    test('an update waits in the shard of its transaction, and moves to that of its payment', async () => {
      await open()
      const txHash = hashIn(0)
      await store.transaction((tx) => insertUpdate(tx, waiting({ txHash, id: 'u1' })))
      expect(await countIn('updates')).toEqual(only(0))
      const payment = await indexed(store, { txHash, integrationAddress: ofShard(3) })
      await store.transaction(async (tx) => {
        const found = await tx.waitingUpdates([{ chainId: 1, txHash }])
        expect(found.map(({ id }) => id)).toEqual(['u1'])
        await tx.settleUpdates([{ id: 'u1', paymentId: payment.id, outcome: 'unchanged', reason: null, version: 1 }])
      })
      expect(await countIn('updates')).toEqual(only(3))
      const [found] = await store.transaction((tx) => tx.findUpdates(['u1']))
      expect(found).toMatchObject({ id: 'u1', outcome: 'unchanged', version: 1 })
      expect(await store.transaction((tx) => insertUpdate(tx, waiting({ txHash, id: 'u1' })))).toBe(false)
    })

    test('two indexers of one chain that enter the same payment at once store it once', async () => {
      await open()
      const other = createPostgresStore({ connectionString: server.connectionString, schema, shards })
      closing.push(() => other.close())
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      let entered = () => {}
      const isEntered = new Promise<void>((resolve) => {
        entered = resolve
      })
      const first = store.transaction(async (tx) => {
        const { inserted } = await tx.upsertPayments([primary()])
        entered()
        await held
        return inserted.length
      })
      await isEntered
      const second = other.transaction(async (tx) => (await tx.upsertPayments([primary()])).inserted.length)
      const blocked = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%payment_shards%'`
      while ((await admin.query(blocked)).rows.length === 0) await wait(10)
      release()
      expect(await Promise.all([first, second])).toEqual([1, 0])
    })

    test.each([
      [2, 4],
      [4, 2],
      [2, 1],
    ])('a first migration of %i shards that was interrupted is not continued with %i', async (begun, count) => {
      const own = `begun_${begun}_${count}`
      const { connectionString } = server
      const interrupted = createPostgresStore({ connectionString, schema: own, shards: begun })
      const stop = interrupted.migrate(({ event, about }) => {
        if (event === 'begun' && about === `shard ${begun - 1}: create all tables`) throw new Error('Stop.')
      })
      await expect(stop).rejects.toThrow('Stop.')
      await interrupted.close()
      const other = createPostgresStore({ connectionString, schema: own, shards: count })
      closing.push(() => other.close())
      await expect(other.migrate()).rejects.toMatchObject({ code: 'ERR_STORE_SCHEMA' })
      const again = createPostgresStore({ connectionString, schema: own, shards: begun })
      closing.push(() => again.close())
      await again.migrate()
      await again.schema.check()
    })

    test('of two first migrations with different numbers one is refused', async () => {
      const { connectionString } = server
      for (let n = 0; n < 4; n += 1) {
        const stores = [1, 2].map((count) =>
          createPostgresStore({ connectionString, schema: `both_${n}`, shards: count }),
        )
        const results = await Promise.allSettled(stores.map((each) => each.migrate()))
        expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
        for (const each of stores) await each.close()
      }
    })

    test('a process without shards writes nothing into the schema beside them, joined to a transaction or not', async () => {
      await open()
      const { connectionString } = server
      const whole = createPostgresStore({ connectionString, schema })
      closing.push(() => whole.close())
      for (const write of [
        () => whole.integrations.insert(integration()),
        () => whole.transaction((tx) => insertUpdate(tx, waiting())),
        () => whole.transaction((tx) => tx.upsertPayments([primary()])),
      ])
        await expect(write()).rejects.toThrow(/_shard/)
      const host = new pg.Client({ connectionString })
      closing.push(() => host.end())
      await host.connect()
      await host.query('begin')
      const joined = (shardCount?: number) =>
        joinPostgresTransaction(host, { schema, shards: shardCount }).transaction((tx) => insertUpdate(tx, waiting()))
      await expect(joined()).rejects.toMatchObject({ code: 'ERR_STORE_SCHEMA' })
      await expect(joined(2)).rejects.toMatchObject({ code: 'ERR_STORE_SCHEMA' })
      expect(await joined(shards)).toBe(true)
      await host.query('commit')
      expect((await countIn('updates')).reduce((sum, n) => sum + n, 0)).toBe(1)
    })

    test('an update that is decided while its integration is exported is on a page', async () => {
      await open()
      const [own, txHash] = [ofShard(0), hashIn(3)]
      await store.integrations.insert(integration({ address: own }))
      await store.transaction((tx) => insertUpdate(tx, waiting({ txHash, id: 'u1' })))
      const { moves } = store
      if (moves === null) throw new Error('The store has no moves.')
      const pages = moves.updates(own)[Symbol.asyncIterator]()
      const seen: string[] = []
      for (let decide = true; ; ) {
        const { done, value } = await pages.next()
        if (done === true) break
        seen.push(...[...value.decided, ...value.waiting].map(({ id }) => id))
        if (!decide) continue
        decide = false
        const payment = await indexed(store, { txHash, integrationAddress: own })
        await store.transaction((tx) =>
          tx.settleUpdates([{ id: 'u1', paymentId: payment.id, outcome: 'unchanged', reason: null, version: 1 }]),
        )
      }
      expect(seen).toEqual(['u1'])
    })

    test('a segment of history begins with the last shard in which it does', async () => {
      await open()
      const { history } = store
      if (history === null) throw new Error('The store has no history.')
      await admin.query(`insert into ${schema}_s0.segments values (1, 5, 1000000000000, 1, 0)`)
      expect((await history.segments()).map(({ number }) => number)).toEqual([0])
      const before = Date.now() - 60_000
      await history.beginSegment()
      const [first, second] = await history.segments()
      expect(second?.begunAt).toBeGreaterThan(before)
      expect(first?.endedAt).toBe(second?.begunAt)
    })

    test('the pages of the deliveries of all integrations have each once, newest first', async () => {
      await open()
      for (let shard = 0; shard < shards; shard += 1)
        await store.integrations.insert(integration({ address: ofShard(shard) }))
      for (let n = 0; n < 12; n += 1)
        await indexed(store, { txHash: hash(n), integrationAddress: ofShard((n * n) % shards) })
      const seen: string[] = []
      let beforeId: string | undefined
      for (let page = 0; page < 5; page += 1) {
        const { rows, next } = await store.console.deliveries({ limit: 5, beforeId })
        seen.push(...rows.map(({ deliveryId }) => deliveryId))
        if (next === null) break
        beforeId = next
      }
      expect([seen.length, new Set(seen).size]).toEqual([12, 12])
      await expect(store.console.deliveries({ limit: 5, beforeId: '7' })).rejects.toThrow(TypeError)
    })

    test.each([
      ['of another number of shards', 8],
      ['without shards', 1],
    ])('a process that is configured %s is refused before it reads or writes', async (_, count) => {
      await open()
      const wrong = createPostgresStore({ connectionString: server.connectionString, schema, shards: count })
      closing.push(() => wrong.close())
      const refused = { code: 'ERR_STORE_SCHEMA', message: expect.stringContaining('4 shards') }
      await expect(wrong.migrate()).rejects.toMatchObject(refused)
      await expect(wrong.schema.check()).rejects.toMatchObject(refused)
    })

    test('a database without shards is not given any later', async () => {
      const { connectionString } = server
      const whole = createPostgresStore({ connectionString, schema: 'whole' })
      await whole.migrate()
      await whole.close()
      const later = createPostgresStore({ connectionString, schema: 'whole', shards: 2 })
      closing.push(() => later.close())
      await expect(later.migrate()).rejects.toMatchObject({ code: 'ERR_STORE_SCHEMA' })
      const { rows } = await admin.query(`select 1 from pg_namespace where starts_with(nspname, 'whole_s')`)
      expect(rows).toEqual([])
    })
  },
)
