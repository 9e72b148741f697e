import type { StoreTransaction, VerificationChange } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as fixtures from '../test/conformance/fixtures.js'
import { type OpenEngine, openSqlite } from '../test/support/engines.js'
import { createStore } from './create-store.js'

const { hash, shop } = fixtures

let opened: OpenEngine
let store: Store
beforeEach(async () => {
  opened = await openSqlite()
  store = createStore(opened.engine)
  await store.migrate()
})
afterEach(() => opened.close())

describe('transactions', () => {
  const lease = { name: 'job', holder: 'process', ttlMs: 60_000 }

  test('inside the work of another is rejected instead of waiting for ever', async () => {
    await expect(store.transaction(() => store.transaction(async () => 1))).rejects.toThrow(TypeError)
    await expect(store.transaction(() => store.leases.acquire(lease))).rejects.toThrow(TypeError)
    expect(await store.leases.list()).toEqual([])
  })

  test('work that outlives its transaction may start another one', async () => {
    let later: Promise<boolean> | undefined
    await store.transaction(async () => {
      later = new Promise((resolve) => setTimeout(resolve, 20)).then(() => store.leases.acquire(lease))
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
  const within = (work: (tx: StoreTransaction) => Promise<unknown>) => store.transaction(work)
  const at = (blockNumber: number) => ({ blockNumber, blockHash: hash(1) })
  const changeSubject = (change: VerificationChange) =>
    within((tx) => tx.identity.changeVerification('subject', change))

  test('a limit or a time that is no whole number from 1 on is a RangeError', async () => {
    for (const n of [0, -1, 0.5, Number.NaN]) {
      const { deliveries, identity } = store
      const outcomes = await Promise.allSettled([
        ...[store.payments.list({ integrationAddress: shop, limit: n }), deliveries.list({ limit: n })],
        ...[store.payments.listUnsettled({ chainId: 1, limit: n }), within((tx) => tx.checkpoints(1, 1, n))],
        ...[deliveries.claim({ limit: n, leaseMs: 1 }), deliveries.claim({ limit: 1, leaseMs: n })],
        ...[deliveries.claim({ limit: 1, leaseMs: 1, perEndpoint: n }), deliveries.backlog({ atMost: n })],
        ...[deliveries.count({}, { atMost: n }), deliveries.endpoints({ limit: n })],
        deliveries.stream({ integrationAddress: shop, afterId: '0', upToId: '0', limit: n }),
        store.leases.acquire({ name: 'a', holder: 'a', ttlMs: n }),
        ...[identity.subjects({ limit: n }), identity.shares({ limit: n }), identity.redemptions({ limit: n })],
        ...[identity.verdicts({ limit: n }), identity.dueLookUps(n), identity.duePolls(n)],
        ...[identity.forgetEvents(fixtures.epoch, n), identity.accountEvents({ limit: n })],
        within((tx) => tx.identity.openRedemptions({ subjectIds: ['subject'], absentSince: 0, limit: n })),
      ])
      for (const [place, outcome] of outcomes.entries())
        expect(outcome, `${n} at ${place}`).toMatchObject({ reason: expect.any(RangeError) })
    }
  })

  const waits = { limit: 1, leaseMs: 1 }
  const settled = { id: 'x', paymentId: '1', outcome: 'applied', reason: null, version: 2 } as const
  const ofRange: readonly (() => Promise<unknown>)[] = [
    () => store.payments.listUnsettled({ chainId: 0.5, limit: 1 }),
    () => store.payments.checkpoint(2 ** 53),
    () => within((tx) => tx.lockChain(Number.NaN)),
    () => within((tx) => tx.setCheckpoint(1, at(-1))),
    () => store.leases.acquire({ name: 'a', holder: 'a', ttlMs: Number.POSITIVE_INFINITY }),
    () => store.deliveries.list({ limit: 1, since: -1 }),
    () => store.deliveries.count({ until: 1.5 }),
    () => store.deliveries.claim({ ...waits, maxRetries: -1 }),
    () => store.deliveries.claim({ ...waits, freeSlots: -1 }),
    () => store.deliveries.claim({ ...waits, inFlightByEndpoint: new Map([['a.example:443', -1]]) }),
    () => store.deliveries.claim({ ...waits, inFlightByIntegration: new Map([[shop, -1]]) }),
    ...[-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY].flatMap((ms) =>
      [{ pollInMs: ms }, { attachedAt: ms }, { reviewedAt: ms }].map((change) => () => changeSubject(change)),
    ),
    // Rows that are not stored.
    () => within((tx) => fixtures.setStatus(tx, '7', fixtures.getStatus(2))),
    () => within((tx) => tx.settleUpdates([settled])),
    () => within((tx) => tx.setDropped('7', null)),
  ]
  test('a value out of range, and a change of a row that is not stored, are RangeErrors', async () => {
    for (const call of ofRange) await expect(call(), String(call)).rejects.toThrow(RangeError)
  })

  test('an id of another form is a TypeError', async () => {
    await expect(store.payments.snapshot('abc', 1)).rejects.toThrow(TypeError)
    await expect(store.payments.listUnsettled({ chainId: 1, afterId: '-1', limit: 1 })).rejects.toThrow(TypeError)
    await expect(store.deliveries.list({ limit: 1, afterId: 'x' })).rejects.toThrow(TypeError)
  })
})

test('a claim token is a new id and the epoch of its endpoint', async () => {
  let count = 0
  const numbered = createStore(opened.engine, { next: () => `token ${++count}` })
  await fixtures.insertIntegration(numbered)
  await fixtures.indexAll(numbered, [fixtures.primary(), fixtures.primary({ txHash: hash(2) })])
  const tokens = async () =>
    (await numbered.deliveries.claim({ limit: 1, leaseMs: 60_000 })).map((claim) => claim.leaseToken)
  expect(await tokens()).toEqual(['token 1.0'])
  await fixtures.updateIntegration(numbered, fixtures.shop, { notificationUrl: 'https://moved.example' })
  expect([await tokens(), await tokens()]).toEqual([['token 2.1'], []])
})
