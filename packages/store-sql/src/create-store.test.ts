import type { StoreTransaction } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as fixtures from '../test/conformance/fixtures.js'
import { type OpenEngine, openSqlite } from '../test/support/engines.js'
import { createStore } from './create-store.js'

const { hash, integration, shop } = fixtures

let opened: OpenEngine
let store: Store
beforeEach(async () => {
  opened = await openSqlite()
  store = createStore(opened.engine)
  await store.migrate()
})
afterEach(() => opened.close())

describe('transactions', () => {
  test('inside the work of another is rejected instead of waiting for ever', async () => {
    await expect(store.transaction(() => store.transaction(async () => 1))).rejects.toThrow(TypeError)
    await expect(store.transaction(() => store.integrations.insert(integration()))).rejects.toThrow(TypeError)
    expect(await store.integrations.list()).toEqual([])
  })

  test('work that outlives its transaction may start another one', async () => {
    let later: Promise<boolean> | undefined
    await store.transaction(async () => {
      later = new Promise((resolve) => setTimeout(resolve, 20)).then(() => store.integrations.insert(integration()))
    })
    expect(await later).toBe(true)
  })

  test('operations after the end are rejected', async () => {
    let kept: StoreTransaction | undefined
    await store.transaction(async (tx) => {
      kept = tx
    })
    await expect(kept?.setCheckpoint(1, { blockNumber: 1, blockHash: hash(1) })).rejects.toThrow()
    expect(await store.payments.checkpoint(1)).toBeNull()
  })
})

describe('invalid arguments are rejected before any work', () => {
  const page = { integrationAddress: shop, limit: 10 }
  const within = (work: (tx: StoreTransaction) => Promise<unknown>) => store.transaction(work)
  const cases: [string, () => Promise<unknown>, typeof TypeError | typeof RangeError][] = [
    ['a page without rows', () => store.payments.list({ ...page, limit: 0 }), RangeError],
    ['half a row', () => store.payments.list({ ...page, limit: 1.5 }), RangeError],
    ['an id of elsewhere', () => store.payments.snapshot('abc', 1), TypeError],
    ['an id with a sign', () => store.payments.listUnsettled({ chainId: 1, afterId: '-1', limit: 1 }), TypeError],
    ['unsettled payments without rows', () => store.payments.listUnsettled({ chainId: 1, limit: 0 }), RangeError],
    ['unsettled payments of no chain', () => store.payments.listUnsettled({ chainId: 0.5, limit: 1 }), RangeError],
    ['a list without rows', () => store.deliveries.list({ limit: 0 }), RangeError],
    ['a claim of nothing', () => store.deliveries.claim({ limit: 0, leaseMs: 1 }), RangeError],
    ['a claim for no time', () => store.deliveries.claim({ limit: 1, leaseMs: 0 }), RangeError],
    ['a chain beyond exact numbers', () => store.payments.checkpoint(2 ** 53), RangeError],
    ['a lock of no chain', () => within((tx) => tx.lockChain(Number.NaN)), RangeError],
    [
      'a negative height',
      () => within((tx) => tx.setCheckpoint(1, { blockNumber: -1, blockHash: hash(1) })),
      RangeError,
    ],
    ['no checkpoints', () => within((tx) => tx.checkpoints(1, 1, 0)), RangeError],
    [
      'a status of a payment that is not stored',
      () => within((tx) => fixtures.setStatus(tx, '7', { version: 2, state: null, recipient: null, invoice: null })),
      RangeError,
    ],
    [
      'settling an update that does not wait',
      () =>
        within((tx) => tx.settleUpdates([{ id: 'x', paymentId: '1', outcome: 'applied', reason: null, version: 2 }])),
      RangeError,
    ],
  ]
  for (const [what, call, error] of cases)
    test(what, async () => {
      await expect(call()).rejects.toThrow(error)
    })
})

test('a claim token is a new id and the epoch of its endpoint', async () => {
  let count = 0
  const numbered = createStore(opened.engine, { next: () => `token ${++count}` })
  await numbered.integrations.insert(integration())
  await numbered.transaction((tx) =>
    fixtures.indexPayments(tx, [fixtures.primary(), fixtures.primary({ txHash: hash(2) })]),
  )
  const tokens = async () =>
    (await numbered.deliveries.claim({ limit: 1, leaseMs: 60_000 })).map((claim) => claim.leaseToken)
  expect(await tokens()).toEqual(['token 1.0'])
  await numbered.integrations.update(fixtures.shop, { notificationUrl: 'https://moved.example' })
  expect([await tokens(), await tokens()]).toEqual([['token 2.1'], []])
})
