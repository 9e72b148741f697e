/** Tests: what an attempt came to. @module */
import { expect } from 'vitest'
import { claimAfter, claimOne, failed } from './claims.js'
import { hash, indexed, integration, nextVersion, otherShop, shop } from './fixtures.js'
import { passTime, type StoreTest } from './subject.js'

const ok = { startedAt: 1_700_000_000_000, latencyMs: 30, status: 204, reason: null }
const silent = { startedAt: 1_700_000_000_001, latencyMs: 5_000, status: null, reason: 'timeout' }
const lease = { limit: 100, leaseMs: 60_000 }

/** Registers the tests. */
export function settlingTests(test: StoreTest): void {
  test('a delivered one is logged and never claimed again', async ({ store }) => {
    await store.integrations.insert(integration())
    const { chainId, txHash } = await indexed(store)
    const claim = await claimOne(store)
    expect(await store.deliveries.settle(claim, ok, { kind: 'delivered' })).toBe('delivered')
    expect(await store.deliveries.claim(lease)).toEqual([])
    expect(await store.deliveries.msUntilDue()).toBeNull()
    expect(await store.deliveries.list({ limit: 10 })).toEqual([
      {
        deliveryId: claim.deliveryId,
        integrationAddress: shop,
        chainId,
        txHash,
        version: 1,
        status: 'delivered',
        attempts: [ok],
        nextAttemptAt: null,
      },
    ])
  })

  test('a retry is due again after its delay, with the next attempt number', async (subject) => {
    const { store } = subject
    await store.integrations.insert(integration())
    await indexed(store)
    expect(await store.deliveries.settle(await claimOne(store), silent, { kind: 'retry', inMs: 50 })).toBe('pending')
    const again = await claimAfter(subject, 50)
    expect(again.attempt).toBe(2)
    expect(await store.deliveries.settle(again, failed, { kind: 'retry', inMs: 3_600_000 })).toBe('pending')
    expect(await store.deliveries.claim(lease)).toEqual([])
    const ms = await store.deliveries.msUntilDue()
    expect(ms).toBeGreaterThan(3_500_000)
    expect(ms).toBeLessThanOrEqual(3_600_000)
    const [view] = await store.deliveries.list({ limit: 10 })
    expect(view).toMatchObject({ status: 'pending', attempts: [silent, failed] })
    expect(view?.nextAttemptAt).toEqual(expect.any(Number))
  })

  test('an exhausted one stays listed and is never claimed again', async ({ store }) => {
    await store.integrations.insert(integration())
    await indexed(store)
    expect(await store.deliveries.settle(await claimOne(store), failed, { kind: 'exhausted' })).toBe('exhausted')
    expect(await store.deliveries.claim(lease)).toEqual([])
    expect(await store.deliveries.list({ status: 'exhausted', limit: 10 })).toMatchObject([{ attempts: [failed] }])
  })

  test('a retry of a version that was overtaken meanwhile ends as superseded, its attempt logged', async ({
    store,
  }) => {
    await store.integrations.insert(integration())
    const payment = await indexed(store)
    const claim = await claimOne(store)
    await nextVersion(store, payment)
    expect(await store.deliveries.settle(claim, failed, { kind: 'retry', inMs: 0 })).toBe('superseded')
    expect(await store.deliveries.list({ status: 'superseded', limit: 10 })).toMatchObject([
      { version: 1, attempts: [failed], nextAttemptAt: null },
    ])
    expect((await store.deliveries.claim(lease)).map(({ version }) => version)).toEqual([2])
  })

  test('an overtaken version that was delivered counts as delivered', async ({ store }) => {
    await store.integrations.insert(integration())
    const payment = await indexed(store)
    const claim = await claimOne(store)
    await nextVersion(store, payment)
    expect(await store.deliveries.settle(claim, ok, { kind: 'delivered' })).toBe('delivered')
  })

  test('a late answer under a lost claim writes nothing', async (subject) => {
    const { store } = subject
    await store.integrations.insert(integration())
    await indexed(store)
    const lost = await claimOne(store, 50)
    const holder = await claimAfter(subject, 50)
    const before = await store.deliveries.list({ limit: 10 })
    for (const verdict of [{ kind: 'delivered' }, { kind: 'exhausted' }, { kind: 'retry', inMs: 0 }] as const)
      expect(await store.deliveries.settle(lost, ok, verdict)).toBeNull()
    expect(await store.deliveries.list({ limit: 10 })).toEqual(before)
    expect(await store.deliveries.settle(holder, ok, { kind: 'delivered' })).toBe('delivered')
  })

  test('an answer after the lease counts while nobody took the delivery over', async (subject) => {
    const { store } = subject
    await store.integrations.insert(integration())
    await indexed(store)
    const claim = await claimOne(store, 1)
    await passTime(subject, 1, async () => (await store.deliveries.msUntilDue()) === 0)
    expect(await store.deliveries.settle(claim, ok, { kind: 'delivered' })).toBe('delivered')
  })

  test('of ten settles of one claim at once one counts', async ({ store }) => {
    await store.integrations.insert(integration())
    await indexed(store)
    const claim = await claimOne(store)
    const settles = Array.from({ length: 10 }, () => store.deliveries.settle(claim, ok, { kind: 'delivered' }))
    expect((await Promise.all(settles)).filter((status) => status !== null)).toEqual(['delivered'])
    expect((await store.deliveries.list({ limit: 10 }))[0]?.attempts).toHaveLength(1)
  })

  test('a claim settles once, also when its delivery is to be tried again', async ({ store }) => {
    await store.integrations.insert(integration())
    await indexed(store)
    const claim = await claimOne(store)
    expect(await store.deliveries.settle(claim, failed, { kind: 'retry', inMs: 0 })).toBe('pending')
    expect(await store.deliveries.settle(claim, ok, { kind: 'delivered' })).toBeNull()
    expect(await claimOne(store)).toMatchObject({ attempt: 2 })
  })

  test('an invented claim settles nothing', async ({ store }) => {
    await store.integrations.insert(integration())
    await indexed(store)
    const claim = await claimOne(store)
    const invented = { ...claim, claimToken: '00000000-0000-0000-0000-000000000000' }
    expect(await store.deliveries.settle(invented, ok, { kind: 'delivered' })).toBeNull()
    expect(await store.deliveries.settle({ ...claim, deliveryId: '987654321' }, ok, { kind: 'delivered' })).toBeNull()
  })

  test('deliveries are listed oldest first, page by page, by payment and by status', async ({ store }) => {
    await store.integrations.insert(integration())
    await store.integrations.insert(integration({ address: otherShop }))
    const payment = await indexed(store, { txHash: hash(1) })
    await indexed(store, { txHash: hash(1), chainId: 10, integrationAddress: otherShop })
    await nextVersion(store, payment)
    await store.deliveries.settle(await claimOne(store), ok, { kind: 'delivered' })
    const listed = async (query: object) =>
      (await store.deliveries.list({ limit: 10, ...query })).map(({ chainId, version }) => [chainId, version])
    const all = [
      [1, 1],
      [10, 1],
      [1, 2],
    ]
    expect(await listed({})).toEqual(all)
    expect(await listed({ txHash: hash(1) })).toEqual(all)
    expect(await listed({ txHash: hash(1), chainId: 1 })).toEqual([all[0], all[2]])
    expect(await listed({ chainId: 10 })).toEqual([all[1]])
    expect(await listed({ txHash: hash(2) })).toEqual([])
    expect(await listed({ status: 'delivered' })).toEqual([all[0]])
    expect(await listed({ status: 'pending' })).toEqual([all[1], all[2]])
    const [first] = await store.deliveries.list({ limit: 1 })
    expect(await listed({ afterId: first?.deliveryId, limit: 1 })).toEqual([all[1]])
  })
}
