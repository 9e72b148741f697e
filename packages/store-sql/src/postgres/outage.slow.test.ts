import { expect, test, vi } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { giveToServer } from '../../test/postgres.js'
import { onOwnPostgres } from '../../test/support/on-postgres.js'
import { onSmallDisk } from '../../test/support/small-disk.js'

const { hash, indexed, indexPayments, numbered, primary, shop } = fixtures

const unavailable = { name: 'StoreError', code: 'ERR_STORE_UNAVAILABLE', retryable: true }

onOwnPostgres('a server that goes away', {}, ({ server, connectionString, connect, open: openStore, openMigrated }) => {
  const list = { integrationAddress: shop, limit: 10 }

  for (const [how, signal] of Object.entries({ 'is stopped': 'SIGINT', crashes: 'SIGQUIT' } as const))
    test(`and ${how} in mid-transaction leaves nothing of it and keeps what was committed`, async () => {
      const store = await openMigrated()
      const kept = await indexed(store, { txHash: hash(1) })
      const interrupted = store.transaction(async (tx) => {
        await indexPayments(tx, [primary({ txHash: hash(2) })])
        await server().halt(signal)
        await tx.setCheckpoint(1, { blockNumber: 1, blockHash: hash(1) })
      })
      await expect(interrupted).rejects.toMatchObject(unavailable)
      await expect(store.ping()).rejects.toMatchObject(unavailable)
      await expect(store.payments.list(list)).rejects.toMatchObject(unavailable)
      await expect(store.deliveries.claim({ limit: 1, leaseMs: 1_000 })).rejects.toMatchObject(unavailable)
      await server().start()
      expect((await store.payments.list(list)).payments).toEqual([kept])
      expect(await store.deliveries.claim({ limit: 10, leaseMs: 1_000 })).toHaveLength(1)
    })

  test('and is away while the store idles ends no process, and works when it is back', async () => {
    const store = await openMigrated()
    await store.ping()
    await server().halt()
    await server().start()
    await vi.waitFor(() => store.ping(), { timeout: 60_000 })
  })

  test('for one connection only is noticed by the transaction on it and by no other', async () => {
    const store = await openMigrated()
    const admin = await connect()
    const cut = store.transaction(async (tx) => {
      await tx.lockChain(1)
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'payment-integration' and state = 'idle in transaction'`,
      )
      await tx.setCheckpoint(1, { blockNumber: 1, blockHash: hash(1) })
    })
    await expect(cut).rejects.toMatchObject(unavailable)
    await store.transaction((tx) => tx.setCheckpoint(1, { blockNumber: 2, blockHash: hash(2) }))
    expect(await store.payments.checkpoint(1)).toEqual({ blockNumber: 2, blockHash: hash(2) })
  })

  test('without space is full, and keeps committed rows', (context) =>
    onSmallDisk(context, '24m', async (disk) => {
      giveToServer(disk.path)
      const admin = await connect()
      await admin.query(`create tablespace small location '${disk.path}'`)
      await admin.query('create database cramped tablespace small')
      const store = openStore({ connectionString: connectionString().replace('/postgres?', '/cramped?') })
      await store.migrate()
      const kept = await indexed(store, { txHash: hash(0) })
      const fill = async () => {
        for (let from = 1; from < 100_000; from += 2_000) {
          const given = numbered(2_000, from, { blockTimestamp: 1 })
          await store.transaction((tx) => tx.upsertPayments(given))
        }
      }
      await expect(fill()).rejects.toMatchObject({ code: 'ERR_STORE_FULL', retryable: false })
      expect((await store.payments.list({ ...list, limit: 1 })).payments).toEqual([kept])
      await store.close()
      await admin.query('drop database cramped')
      await admin.query('drop tablespace small')
    }))
})
