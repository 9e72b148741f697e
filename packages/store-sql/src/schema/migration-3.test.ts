import { createHash } from 'node:crypto'
import { fixtures } from '@payment-integration/core/conformance'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { fillCheckpoint, fillSchema, makeSchema } from '../../test/support/old-schema.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { postgresTypes, sqliteTypes } from './column-types.js'
import { migration2 } from './migration-2.js'
import { migration3 } from './migration-3.js'
import { migration4 } from './migration-4.js'

const { bodyOf, deposit, facts, hash, indexed, listed, nextVersion, primary } = fixtures

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
}

test.each([
  ['2', migration2, 'bff78f1738fd077cc05f314c636932ce66480f4e080b1eb6f5e8f7130abb0656'],
  ['3', migration3, '3e05e8a8c2e2db1945184ba9182be364f06f807580aeab76908ba1c8bc9cc84f'],
  ['4', migration4, '508649085c43246c17ed068a10c4f617692dc2006feb2091f4455ea61b534b4e'],
])('the text of migration %s, which was released, is what it was', (_, migration, expected) => {
  const text = [sqliteTypes, postgresTypes].map((types) => migration(types, (table) => `"${table}"`))
  expect(createHash('sha256').update(JSON.stringify(text)).digest('hex')).toBe(expected)
})

onBothDatabases(broughtUpToDate)

/** Registers the tests. */
function broughtUpToDate(empty: () => Promise<Engine>): void {
  async function upToDate() {
    const engine = await empty()
    await makeSchema(engine, 2)
    await fillSchema(engine, 2, old)
    await fillCheckpoint(engine, 2, { blockNumber: 5, blockHash: hash(5) })
    const store = createStore(engine)
    await Promise.all([1, 2, 3, 4].map(() => store.migrate()))
    return store
  }

  test('every read finds what a database of migration 2 holds', async () => {
    const store = await upToDate()
    expect(await listed(store)).toEqual([asRead])
    expect(await listed(store, { wallet: old.receiver })).toEqual([asRead])
    expect(await store.payments.transaction(old)).toEqual({ payments: [asRead], indexedTo: old.blockNumber })
    expect(await store.transaction((tx) => tx.paymentsInBlocks(1, 0, 1_000))).toEqual([asRead])
    expect(await store.payments.snapshot('1', 1)).toEqual(bodyOf('1', 1))
    const [claim] = await store.deliveries.claim({ limit: 10, leaseMs: 1_000 })
    expect(claim).toMatchObject({ txHash: old.txHash, body: bodyOf('1', 1) })
    expect(await store.payments.checkpoint(2)).toEqual({ blockNumber: 5, blockHash: hash(5) })
    expect(await store.chains.proofs(1, 10)).toEqual([])
    expect(await store.chains.coverage(1)).toEqual([])
    expect(await store.chains.waitingDeposits({ limit: 10 })).toEqual([])
  })

  test('a payment that was stored before can be changed, dropped and come back', async () => {
    const store = await upToDate()
    const newer = await indexed(store, { txHash: hash(2), blockNumber: 101 })
    expect(newer.id).toBe('2')
    expect(await nextVersion(store, old)).toBe(2)
    await store.transaction((tx) => tx.leaveChain(1, 0))
    const overdue = await store.transaction((tx) => tx.overduePayments(1, 100, 10))
    expect(overdue).toEqual([{ ...asRead, offChain: true, version: 2, state: 'pending' }])
    await store.transaction((tx) => tx.setDropped('1', { formerState: 'pending' }))
    const { returned } = await store.transaction((tx) => tx.upsertPayments([primary(old)]))
    expect(returned).toEqual([{ ...asRead, version: 2, state: 'pending', dropped: { formerState: 'pending' } }])
  })

  test('a checkpoint of before goes on, up and down', async () => {
    const store = await upToDate()
    const at = (blockNumber: number) => ({ blockNumber, blockHash: hash(blockNumber) })
    await store.transaction(async (tx) => {
      expect(await tx.lockChain(2)).toEqual(at(5))
      expect(await tx.reached(2)).toBe(5)
      await tx.setCheckpoint(2, at(9), [at(7), at(8)])
      await tx.addProof(2, { from: 6, to: 9, proof: 'root', endpoint: 'a' })
      await tx.upsertDeposits([deposit({ chainId: 2, blockNumber: 9 })])
      await tx.leaveChain(2, 7)
      await tx.setCheckpoint(2, at(7))
      await tx.setReached(2, 9)
    })
    expect(await store.payments.transaction({ chainId: 2, txHash: hash(1) })).toEqual({ payments: [], indexedTo: 9 })
    expect(await store.transaction((tx) => tx.checkpoints(2, 100, 10))).toEqual([at(7), at(5)])
    expect(await store.chains.proofs(2, 10)).toEqual([{ from: 6, to: 7, proof: 'root', endpoint: 'a' }])
    expect(await store.chains.waitingDeposits({ limit: 10 })).toEqual([])
  })
}
