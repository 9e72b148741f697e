/** Tests: settling attempts. @module */
import type { AttemptDecision, AttemptRecord, ClaimedDelivery } from '@payment-integration/core/internal'
import { expect } from 'vitest'
import * as fixtures from './fixtures.js'
import { type StoreTest, withShop } from './subject.js'

const { answered: ok, claimOne, claimSome, epoch, failed, hash, indexAll, indexed, indifferent, nextVersion } = fixtures
const { numbered, settleOne, shop } = fixtures

const silent = {
  startedAt: epoch + 1,
  latencyMs: 5_000,
  status: null,
  reason: 'timeout',
  excerpt: 'K\u00e4se \u0000 \ud800 "\\',
  replay: false,
}
const lease = { limit: 100, leaseMs: 60_000 }
const delivered = { attempt: ok, verdict: { kind: 'delivered' } } as const
export function settlingTests(plain: StoreTest): void {
  const test = withShop(plain)
  test('a delivered delivery is logged and never claimed again', async ({ store }) => {
    const { chainId, txHash } = await indexed(store)
    const claim = await claimOne(store)
    expect(await settleOne(store, claim, ok, { kind: 'delivered' })).toBe('delivered')
    expect(await store.deliveries.claim(lease)).toEqual([])
    expect(await store.deliveries.msUntilDue()).toBeNull()
    const identity = { deliveryId: claim.deliveryId, integrationAddress: shop, chainId, txHash, version: 1 }
    const state = { createdAt: expect.any(Number), status: 'delivered', attempts: [ok], nextAttemptAt: null }
    expect(await store.deliveries.list({ limit: 10 })).toEqual([{ ...identity, ...state }])
  })

  test('a retry is due again after its delay, with the next attempt number', async ({ store, claimAfter }) => {
    await indexed(store)
    expect(await settleOne(store, await claimOne(store), silent, { kind: 'retry', inMs: 50 })).toBe('pending')
    const [again] = await claimAfter(50)
    expect(again.attempt).toBe(2)
    expect(await settleOne(store, again, failed, { kind: 'retry', inMs: 3_600_000 })).toBe('pending')
    expect(await store.deliveries.claim(lease)).toEqual([])
    const ms = await store.deliveries.msUntilDue()
    expect(ms).toBeGreaterThan(3_500_000)
    expect(ms).toBeLessThanOrEqual(3_600_000)
    const [view] = await store.deliveries.list({ limit: 10 })
    expect(view).toMatchObject({ status: 'pending', attempts: [silent, failed] })
    expect(view?.nextAttemptAt).toEqual(expect.any(Number))
  })

  test('a rejected attempt and the one that followed are one step, in order', async ({ store, claimAfter }) => {
    const rejected = { ...failed, startedAt: epoch - 9, status: 401, reason: 'status_401' }
    const settle = async (claim: ClaimedDelivery, attempt: AttemptRecord, verdict: AttemptDecision) => {
      const { statuses } = await store.deliveries.settle([{ claim, rejected, attempt, verdict }], indifferent)
      return statuses[0]
    }
    await indexed(store)
    expect(await settle(await claimOne(store), failed, { kind: 'retry', inMs: 1 })).toBe('pending')
    const [second] = await claimAfter(1)
    expect(second).toMatchObject({ attempt: 3, step: 2 })
    expect(await settleOne(store, second, silent, { kind: 'retry', inMs: 1 })).toBe('pending')
    const [third] = await claimAfter(1)
    expect(third).toMatchObject({ attempt: 4, step: 3 })
    expect(await settle(third, ok, { kind: 'delivered' })).toBe('delivered')
    expect(await settle(third, ok, { kind: 'delivered' })).toBeNull()
    const [view] = await store.deliveries.list({ limit: 10 })
    expect(view).toMatchObject({ status: 'delivered', attempts: [rejected, failed, silent, rejected, ok] })
    await store.transaction((tx) => tx.replayDeliveries({ limit: 1 }))
    expect(await claimOne(store)).toMatchObject({ attempt: 6, step: 1, replay: true })
  })

  test('a retry whose version is superseded is settled as superseded, with its attempt logged', async ({ store }) => {
    const payment = await indexed(store)
    const claim = await claimOne(store)
    await nextVersion(store, payment)
    expect(await settleOne(store, claim, failed, { kind: 'retry', inMs: 0 })).toBe('superseded')
    expect(await store.deliveries.list({ status: 'superseded', limit: 10 })).toMatchObject([
      { version: 1, attempts: [failed], nextAttemptAt: null },
    ])
    expect((await store.deliveries.claim(lease)).map(({ version }) => version)).toEqual([2])
  })

  test('a delivered attempt of a superseded version counts as delivered', async ({ store }) => {
    const payment = await indexed(store)
    const claim = await claimOne(store)
    await nextVersion(store, payment)
    expect(await settleOne(store, claim, ok, { kind: 'delivered' })).toBe('delivered')
  })

  test('a late result of a lost lease writes nothing', async ({ store, claimAfter }) => {
    await indexed(store)
    const lost = await claimOne(store, 50)
    const [holder] = await claimAfter(50)
    const before = await store.deliveries.list({ limit: 10 })
    for (const verdict of [{ kind: 'delivered' }, { kind: 'exhausted' }, { kind: 'retry', inMs: 0 }] as const)
      expect(await settleOne(store, lost, ok, verdict)).toBeNull()
    expect(await store.deliveries.list({ limit: 10 })).toEqual(before)
    expect(await settleOne(store, holder, ok, { kind: 'delivered' })).toBe('delivered')
  })

  test('a result after the lease counts if no other dispatcher claimed the delivery', async ({ store, passTime }) => {
    await indexed(store)
    const claim = await claimOne(store, 1)
    await passTime(1, async () => (await store.deliveries.msUntilDue()) === 0)
    expect(await settleOne(store, claim, ok, { kind: 'delivered' })).toBe('delivered')
  })

  test('a lease settles once, also when a retry follows', async ({ store }) => {
    await indexed(store)
    const claim = await claimOne(store)
    expect(await settleOne(store, claim, failed, { kind: 'retry', inMs: 0 })).toBe('pending')
    expect(await settleOne(store, claim, ok, { kind: 'delivered' })).toBeNull()
    expect(await claimOne(store)).toMatchObject({ attempt: 2 })
  })

  test('a batch settles in its order, each as if alone', async ({ store }) => {
    const payments = []
    for (let n = 1; n <= 6; n += 1) payments.push(await indexed(store, { txHash: hash(n) }))
    const [first, second, third, fourth, fifth, sixth] = await claimSome(store, 6)
    if (payments[3] !== undefined) await nextVersion(store, payments[3])
    const settled = await store.deliveries.settle(
      [
        { claim: fifth, attempt: silent, verdict: { kind: 'retry', inMs: 1_000 } },
        { claim: first, ...delivered },
        { claim: { ...sixth, leaseToken: first.leaseToken.replace(/^./, 'x') }, ...delivered },
        { claim: third, attempt: failed, verdict: { kind: 'exhausted' } },
        { claim: first, attempt: failed, verdict: { kind: 'exhausted' } },
        { claim: { ...second, deliveryId: '987654321' }, ...delivered },
        { claim: fourth, attempt: failed, verdict: { kind: 'retry', inMs: 0 } },
      ],
      indifferent,
    )
    expect(settled).toEqual({
      statuses: ['pending', 'delivered', null, 'exhausted', null, null, 'superseded'],
      transitions: [],
    })
    const views = await store.deliveries.list({ limit: 10 })
    expect(views.slice(0, 6).map(({ status, attempts }) => [status, attempts])).toEqual([
      ['delivered', [ok]],
      ['pending', []],
      ['exhausted', [failed]],
      ['superseded', [failed]],
      ['pending', [silent]],
      ['pending', []],
    ])
    expect(await settleOne(store, second, ok, { kind: 'delivered' })).toBe('delivered')
    expect(await settleOne(store, sixth, ok, { kind: 'delivered' })).toBe('delivered')
  })

  test('an empty batch settles nothing', async ({ store }) => {
    expect(await store.deliveries.settle([], indifferent)).toEqual({ statuses: [], transitions: [] })
  })

  test('500 settle in one batch', async ({ store }) => {
    await indexAll(store, numbered(500))
    const claims = await store.deliveries.claim({ limit: 500, leaseMs: 60_000 })
    const retry = (inMs: number) => ({ attempt: silent, verdict: { kind: 'retry', inMs } }) as const
    const settled = claims.map((claim, n) => ({ claim, ...(n % 2 === 0 ? delivered : retry(n)) }))
    const { statuses } = await store.deliveries.settle(settled, indifferent)
    expect(statuses).toEqual(claims.map((_, n) => (n % 2 === 0 ? 'delivered' : 'pending')))
    const views = await store.deliveries.list({ limit: 500 })
    expect(views.map(({ attempts }) => attempts)).toEqual(claims.map((_, n) => [n % 2 === 0 ? ok : silent]))
  })

  test('two stores that settle the same claims at once log each attempt once', async ({ store, twoStores }) => {
    for (let n = 0; n < 40; n += 1) await indexed(store, { txHash: hash(n) })
    const claims = await store.deliveries.claim(lease)
    const stores = await twoStores()
    const batches = [claims, claims.toReversed(), claims.slice(10), claims.slice(0, 30)].map((some, n) => {
      const settled = some.map((claim) => ({ claim, ...delivered }))
      return stores[n % 2 === 0 ? 0 : 1].deliveries.settle(settled, indifferent)
    })
    const statuses = (await Promise.all(batches)).flatMap((settled) => settled.statuses)
    expect(statuses.filter((status) => status === 'delivered')).toHaveLength(40)
    const views = await store.deliveries.list({ limit: 100 })
    expect(views.map(({ attempts }) => attempts)).toEqual(Array(40).fill([ok]))
  })
}
