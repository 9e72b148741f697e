import { createHash } from 'node:crypto'
import { createService, parseMasterKey } from '@payment-integration/core'
import { fixtures } from '@payment-integration/core/conformance'
import type { PricingFacts } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { fillSchema, makeSchema } from '../../test/support/old-schema.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { postgresTypes, sqliteTypes } from './column-types.js'
import { migration1 } from './migration-1.js'

const { bodyOf, facts, hash, indexed, integration, listed, nextVersion, primary, shop } = fixtures

const unknown: PricingFacts = { listedToken: null, feeds: [], calledAmount: null, serviceFee: null }
const old = facts({ tokenOut: { ...facts().tokenOut, symbol: 'a\u0000"\ud800' } })
const asRead = {
  ...old,
  id: '1',
  primary: true,
  offChain: false,
  dropped: null,
  version: 1,
  state: null,
  recipient: null,
  invoice: null,
  pricing: unknown,
}

test('the text of migration 1, which was released, is what it was', () => {
  const text = [sqliteTypes, postgresTypes].map((types) => migration1(types, (table) => `"${table}"`))
  expect(createHash('sha256').update(JSON.stringify(text)).digest('hex')).toBe(
    '75e35a4154d08c7c5c8d609a0d7997ac43b0d6b8967baab66817ec60e1ab72e8',
  )
})

onBothDatabases((empty, database) => {
  broughtUpToDate(empty)
  if (database === 'PostgreSQL')
    test('a process of the release before inserts no payment whose cost nobody would ever know', async () => {
      const engine = await empty()
      await makeSchema(engine, 1)
      await createStore(engine).migrate()
      await expect(fillSchema(engine, 1, old)).rejects.toThrow(/null value in column "pricing"/)
    })
})

/** Registers the tests. */
function broughtUpToDate(empty: () => Promise<Engine>): void {
  async function upToDate() {
    const engine = await empty()
    await makeSchema(engine, 1)
    await fillSchema(engine, 1, old)
    const store = createStore(engine)
    await store.migrate()
    return { engine, store }
  }

  test('every read finds what a database of migration 1 holds', async () => {
    const { store } = await upToDate()
    const { chainId, txHash, sender } = old
    expect(await listed(store)).toEqual([asRead])
    expect(await listed(store, { wallet: sender })).toEqual([asRead])
    expect(await store.payments.findByHash({ integrationAddress: shop, txHash })).toEqual([asRead])
    expect(await store.payments.transaction(old)).toEqual({ payments: [asRead], indexedTo: old.blockNumber })
    expect(await store.payments.listByState({ states: [null], limit: 10 })).toEqual([asRead])
    expect(await store.payments.chainsByState([null])).toEqual([chainId])
    expect(await store.payments.checkpoint(chainId)).toEqual({
      blockNumber: old.blockNumber,
      blockHash: old.blockHash,
    })
    expect(await store.payments.snapshot('1', 1)).toEqual(bodyOf('1', 1))
    expect(await store.integrations.list()).toEqual([integration()])
    const [claim] = await store.deliveries.claim({ limit: 10, leaseMs: 1_000 })
    expect(claim).toMatchObject({ txHash, body: bodyOf('1', 1) })
    expect(await store.accounts.list()).toEqual([])
    expect(await store.legacyKeys.list()).toEqual([])
  })

  test('the legacy look-up shows a payment of migration 1 without an invoice', async () => {
    const { store } = await upToDate()
    const masterKey = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')
    const sender = { post: () => Promise.reject(new Error('Nothing is sent.')) }
    const { legacy } = createService({ store, masterKey, sender, chains: [] })
    const { payments } = await legacy.lookup({ chainId: '1', txHash: old.txHash })
    expect(payments).toEqual([
      expect.objectContaining({ invoiceAmount: '', invoiceCurrency: '', priceFeeds: [], receiver: old.receiver }),
    ])
  })

  test('what was stored before and after can be changed, moved and taken off the chain', async () => {
    const { store } = await upToDate()
    const newer = await indexed(store, { txHash: hash(2), blockTimestamp: old.blockTimestamp + 1 })
    expect(newer.id).not.toBe('1')
    expect(await listed(store)).toEqual([newer, asRead])
    const first = await store.payments.list({ integrationAddress: shop, limit: 1 })

    expect(await nextVersion(store, old)).toBe(2)
    const moved = { blockNumber: 200, blockHash: hash(0xb200), blockTimestamp: old.blockTimestamp + 2 }
    await store.transaction((tx) => tx.upsertPayments([primary({ ...old, ...moved })]))
    const changed = { ...asRead, ...moved, pricing: old.pricing, version: 2, state: 'pending' }
    expect(await listed(store)).toEqual([changed, newer])
    expect(await listed(store, { after: first.next ?? undefined })).toEqual([changed])

    await store.transaction((tx) => tx.leaveChain(1, 199))
    expect((await listed(store)).map(({ offChain }) => offChain)).toEqual([true, false])
  })

  test('migrating again, and four times at once, changes nothing more', async () => {
    const engine = await empty()
    await makeSchema(engine, 1)
    await fillSchema(engine, 1, old)
    const store = createStore(engine)
    await Promise.all([1, 2, 3, 4].map(() => store.migrate()))
    await store.migrate()
    const versions = sql.raw(engine.differences.name('schema_versions'))
    const { rows } = await sql<{ version: unknown }>`select version from ${versions} order by version`.execute(
      engine.read,
    )
    expect(rows.map(({ version }) => Number(version))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    expect(await listed(store)).toEqual([asRead])
  })

  test('a migration that fails half-way leaves the schema of before, and runs once the cause is gone', async () => {
    const engine = await empty()
    await makeSchema(engine, 1)
    const inTheWay = sql.raw(engine.differences.name('legacy_keys'))
    await engine.transaction((db) => sql`create table ${inTheWay} (a integer)`.execute(db))
    const store = createStore(engine)
    await expect(store.migrate()).rejects.toThrow(/already exists/)
    await fillSchema(engine, 1, old)
    await engine.transaction((db) => sql`drop table ${inTheWay}`.execute(db))
    await store.migrate()
    expect(await listed(store)).toEqual([asRead])
  })
}
