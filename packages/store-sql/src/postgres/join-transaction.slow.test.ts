import { once } from 'node:events'
import { createService, parseMasterKey, type Service, type ServiceEvent } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onPostgres } from '../../test/support/on-postgres.js'
import { getDueChannelName } from './due-channel.js'
import { joinPostgresTransaction } from './join-transaction.js'

const { facts, hash, shop } = fixtures
const txHash = hash(0xb2)

onPostgres('an update in a transaction of the host', ({ pool: openPool, connect, nextSchema, open }) => {
  let pool: pg.Pool
  let schema: string
  let store: Store
  let service: Service
  const events: ServiceEvent[] = []

  beforeEach(async () => {
    events.length = 0
    schema = nextSchema()
    pool = openPool()
    store = open({ schema })
    await store.migrate()
    await pool.query('drop table if exists orders; create table orders (id int primary key, note text not null)')
    service = createService({
      store,
      sender: { post: async () => ({ kind: 'failure', reason: 'connection', latencyMs: 0 }) },
      masterKey: parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'),
      onEvent: (event) => void events.push(event),
    })
    await service.integrations.create({ address: shop, notificationUrl: 'https://shop.example/hook' })
  })

  const update = (id: string, paid = txHash) => ({ id, chainId: '1', txHash: paid, state: 'success' as const })
  const apply = (client: pg.PoolClient, ...given: Parameters<typeof update>) =>
    service.applyUpdateIn(joinPostgresTransaction(client, { schema }), update(...given))
  const known = (id: string) => store.transaction((tx) => fixtures.findUpdate(tx, id))
  const orders = async () => (await pool.query('select id from orders order by id')).rows.map(({ id }) => id)
  async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>, end: 'commit' | 'rollback'): Promise<T> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query(end)
      return result
    } finally {
      client.release()
    }
  }

  test('is kept with the rows of the host when the host commits, and not seen before', async () => {
    const joined = await inTransaction(async (client) => {
      await client.query("insert into orders values (1, 'paid')")
      const applied = await apply(client, 'kept')
      expect(await known('kept')).toBe(null)
      expect(await orders()).toEqual([])
      return applied
    }, 'commit')
    expect(joined.result).toMatchObject({ id: 'kept', outcome: 'waiting' })
    expect(await known('kept')).toMatchObject({ outcome: 'waiting' })
    expect(await orders()).toEqual([1])
  })

  test('is lost with the rows of the host when the host rolls back', async () => {
    await inTransaction(async (client) => {
      await client.query("insert into orders values (1, 'paid')")
      await apply(client, 'lost')
    }, 'rollback')
    expect(await known('lost')).toBe(null)
    expect(await orders()).toEqual([])
  })

  test('is published only when the host reports its commit', async () => {
    const joined = await inTransaction((client) => apply(client, 'published'), 'commit')
    expect(events).toEqual([])
    joined.committed()
    expect(events).toMatchObject([{ type: 'update.settled', updateId: 'published' }])
  })

  test("that is rejected leaves the host's transaction and earlier writes intact", async () => {
    await service.applyUpdate(update('taken'))
    await inTransaction(async (client) => {
      await client.query("insert into orders values (1, 'before')")
      const joined = joinPostgresTransaction(client, { schema })
      const conflict = service.applyUpdateIn(joined, { ...update('taken'), state: 'failure' })
      await expect(conflict).rejects.toMatchObject({ code: 'ERR_UPDATE_CONFLICT' })
      await client.query("insert into orders values (2, 'after')")
      await service.applyUpdateIn(joined, update('second'))
    }, 'commit')
    expect(await orders()).toEqual([1, 2])
    expect(await known('second')).not.toBe(null)
  })

  test('that the database rejects is undone up to the savepoint, even if the work catches the error', async () => {
    await inTransaction(async (client) => {
      await client.query("insert into orders values (1, 'before')")
      const joined = joinPostgresTransaction(client, { schema: 'nowhere' })
      await expect(service.applyUpdateIn(joined, update('nowhere'))).rejects.toThrow(/does not exist/)
      await client.query("insert into orders values (2, 'after')")
    }, 'commit')
    expect(await orders()).toEqual([1, 2])
  })

  test('applies to a payment: version, snapshot and delivery, and word goes out with the commit', async () => {
    const payment = facts()
    await store.transaction((tx) => tx.upsertPayments([{ facts: payment, primary: true }]))
    const listener = await connect()
    await listener.query(`listen ${getDueChannelName(schema)}`)
    const heard = once(listener, 'notification')
    const joined = await inTransaction(async (client) => {
      const applied = await apply(client, 'applied', payment.txHash)
      expect(await service.deliveries.list({ limit: 10 })).toEqual([])
      return applied
    }, 'commit')
    await heard
    expect(joined.result).toEqual({ id: 'applied', outcome: 'applied', version: 2, reason: null })
    expect(await service.deliveries.list({ limit: 10 })).toMatchObject([{ txHash: payment.txHash, version: 2 }])
  })

  test.each(['repeatable read', 'serializable'])(
    'is rejected in a transaction at %s, whose snapshot could hide the payment, and nothing is stored',
    async (level) => {
      await inTransaction(async (client) => {
        await client.query(`set transaction isolation level ${level}`)
        await expect(apply(client, 'hidden')).rejects.toThrow(/READ COMMITTED/)
      }, 'commit')
      expect(await known('hidden')).toBe(null)
    },
  )

  test('outside of a transaction is rejected, and nothing is stored', async () => {
    const client = await pool.connect()
    await expect(apply(client, 'alone')).rejects.toThrow(/transaction block/)
    client.release()
    expect(await known('alone')).toBe(null)
  })

  test('during another one on the same client is rejected, and the other is kept', async () => {
    await inTransaction(async (client) => {
      const [first, second] = [apply(client, 'first-of-two'), apply(client, 'second-of-two')]
      await expect(second).rejects.toThrow(/Another joined transaction/)
      await first
    }, 'commit')
    expect(await known('first-of-two')).not.toBe(null)
    expect(await known('second-of-two')).toBe(null)
  })

  test.each(['', 'Payments', 'a"b'])('in the schema %j is a TypeError before anything is sent', (name) => {
    expect(() => joinPostgresTransaction(new pg.Client(), { schema: name })).toThrow(TypeError)
  })
})
