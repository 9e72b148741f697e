/** Tests: claims and leases of deliveries. @module */
import type { ClaimedDelivery } from '@payment-integration/core/internal'
import { expect } from 'vitest'
import * as fixtures from './fixtures.js'
import { type StoreTest, withShop } from './subject.js'

const { claimOne, epoch, failed, hash, indexAll, indexed, integration, makeBody, makeSnapshot, nextVersion } = fixtures
const { numbered, otherShop, primary, settleOne, shop } = fixtures

const lease = { limit: 100, leaseMs: 60_000 }
const versions = (claims: readonly ClaimedDelivery[]) => claims.map(({ version }) => version)
const hashes = (claims: readonly ClaimedDelivery[]) => claims.map(({ txHash }) => txHash)

export function claimTests(plain: StoreTest): void {
  const test = withShop(plain)
  test('first attempts go before many deliveries whose leases ended at once', async ({ store, passTime }) => {
    const many = Array.from({ length: 600 }, (_, n) => hash(n + 1))
    await indexAll(store, numbered(600, 1))
    expect(await store.deliveries.claim({ limit: 1_000, leaseMs: 1 })).toHaveLength(600)
    await passTime(2, async () => (await store.deliveries.msUntilDue()) === 0)
    await indexAll(store, [primary({ txHash: hash(1_000) })])
    expect(hashes(await store.deliveries.claim({ limit: 1, leaseMs: 60_000 }))).toEqual([hash(1_000)])
    const again = await store.deliveries.claim({ limit: 1_000, leaseMs: 60_000 })
    expect(new Set(hashes(again))).toEqual(new Set(many))
  })

  test('a delivery leased for longer than any lease lasts is due again, and a usual lease stays', async ({ store }) => {
    const { deliveries } = store
    await indexAll(store, [primary({ txHash: hash(1) }), primary({ txHash: hash(2) })])
    const [ahead] = await deliveries.claim({ limit: 1, leaseMs: 7_200_000 })
    const [usual] = await deliveries.claim({ limit: 1, leaseMs: 60_000 })
    expect([ahead, usual]).toEqual([expect.anything(), expect.anything()])
    expect(await deliveries.resetOverlongWaits({ leaseMs: 600_000, retryMs: [600_000], blockMs: 0 })).toBe(1)
    expect(hashes(await deliveries.claim(lease))).toEqual([ahead?.txHash])
    expect(await deliveries.resetOverlongWaits({ leaseMs: 600_000, retryMs: [600_000], blockMs: 0 })).toBe(0)
  })

  test('a retry is due at once if it waits longer than its own step', async ({ store }) => {
    const { deliveries } = store
    await indexAll(store, [primary({ txHash: hash(1) })])
    const longest = { leaseMs: 600_000, retryMs: [3_600_000, 7_200_000], blockMs: 600_000 }
    const fail = async (inMs: number) => {
      const claim = await claimOne(store)
      await settleOne(store, claim, failed, { kind: 'retry', inMs })
    }
    await fail(3_600_000)
    expect(await deliveries.resetOverlongWaits(longest)).toBe(0)
    expect(await deliveries.resetOverlongWaits({ ...longest, retryMs: [3_500_000, 7_200_000] })).toBe(1)
    expect(await deliveries.msUntilDue()).toBe(0)
    await fail(7_000_000)
    expect(await deliveries.resetOverlongWaits(longest)).toBe(0)
    expect(await deliveries.resetOverlongWaits({ ...longest, retryMs: [3_600_000, 3_600_000] })).toBe(1)
    expect(await deliveries.msUntilDue()).toBe(0)
  })

  test('a snapshot of an integration with a URL has one delivery, due at once', async ({ store }) => {
    const { id, chainId, txHash } = await indexed(store)
    expect(await store.deliveries.msUntilDue()).toBe(0)
    const [claim, ...others] = await store.deliveries.claim(lease)
    expect(others).toEqual([])
    expect(claim).toEqual({
      deliveryId: claim?.deliveryId,
      leaseToken: claim?.leaseToken,
      attempt: 1,
      step: 1,
      replay: false,
      probe: false,
      ageMs: claim?.ageMs,
      integrationAddress: shop,
      notificationUrl: 'https://shop.example/hook',
      signingSecret: { keyVersion: 1, sealed: 'c2VhbGVk' },
      previousSigningSecret: null,
      chainId,
      txHash,
      version: 1,
      body: makeBody(id, 1),
    })
    expect(claim?.ageMs).toBeGreaterThanOrEqual(0)
    expect(claim?.ageMs).toBeLessThan(60_000)
    expect(await store.deliveries.claim(lease)).toEqual([])
  })

  plain('a snapshot without an integration, of an unknown one or without a URL has no delivery', async ({ store }) => {
    await fixtures.insertIntegration(store, integration({ notificationUrl: null }))
    await indexed(store, { txHash: hash(1) })
    await indexed(store, { txHash: hash(2), integrationAddress: otherShop })
    await indexed(store, { txHash: hash(3), integrationAddress: null })
    await fixtures.updateIntegration(store, shop, { notificationUrl: 'https://late.example' })
    expect(await store.deliveries.list({ limit: 10 })).toEqual([])
    expect(await store.deliveries.claim(lease)).toEqual([])
    expect(await store.deliveries.msUntilDue()).toBeNull()
  })

  test('20 parallel claims lease each of 200 deliveries once', async ({ store }) => {
    await fixtures.insertIntegration(store, integration({ address: otherShop }))
    for (let n = 0; n < 200; n += 1)
      await indexed(store, { txHash: hash(n), integrationAddress: n % 2 === 0 ? shop : otherShop })
    const claim = () => store.deliveries.claim({ limit: 10, leaseMs: 60_000 })
    const claims = await Promise.all(Array.from({ length: 20 }, claim))
    expect(claims.map((some) => some.length)).toEqual(Array(20).fill(10))
    expect(new Set(claims.flat().map(({ deliveryId }) => deliveryId)).size).toBe(200)
  })

  plain('deliveries of a disabled integration wait until it is enabled, and delay no other', async ({ store }) => {
    await fixtures.insertIntegration(store, integration({ enabled: false }))
    await fixtures.insertIntegration(store, integration({ address: otherShop }))
    for (let n = 1; n <= 5; n += 1) await indexed(store, { txHash: hash(n) })
    expect(await store.deliveries.msUntilDue()).toBeNull()
    await indexed(store, { txHash: hash(6), integrationAddress: otherShop })
    expect(hashes(await store.deliveries.claim({ limit: 1, leaseMs: 60_000 }))).toEqual([hash(6)])
    expect(await store.deliveries.claim(lease)).toEqual([])
    await fixtures.updateIntegration(store, shop, { enabled: true })
    expect(hashes(await store.deliveries.claim(lease))).toEqual([1, 2, 3, 4, 5].map(hash))
  })

  test('deliveries wait while the URL is missing, then use the current URL and secrets', async ({ store }) => {
    await indexed(store)
    await fixtures.updateIntegration(store, shop, { notificationUrl: null })
    expect(await store.deliveries.claim(lease)).toEqual([])
    expect(await store.deliveries.msUntilDue()).toBeNull()
    const change = {
      notificationUrl: 'https://new.example',
      signingSecret: { keyVersion: 2, sealed: 'bmV3' },
      previousSigningSecret: { keyVersion: 1, sealed: 'b2xk', until: epoch },
    }
    await fixtures.updateIntegration(store, shop, change)
    expect(await claimOne(store)).toMatchObject({ ...change, attempt: 1 })
  })

  test('after a lease the same attempt is claimed with a new token', async ({ store, claimAfter }) => {
    await indexed(store)
    const lost = await claimOne(store, 50)
    const [again] = await claimAfter(50)
    expect(again.ageMs).toBeGreaterThanOrEqual(50)
    expect(again).toEqual({ ...lost, leaseToken: again.leaseToken, ageMs: again.ageMs })
    expect(again.leaseToken).not.toBe(lost.leaseToken)
  })

  test('lost leases use up no attempt: only logged attempts count', async ({ store, claimAfter }) => {
    await indexed(store)
    for (const attempt of [1, 2, 3]) {
      for (let lost = 0; lost < 3; lost += 1) expect(await claimAfter(50, 50)).toMatchObject([{ attempt }])
      const [claim] = await claimAfter(50)
      expect(claim.attempt).toBe(attempt)
      expect(await settleOne(store, claim, failed, { kind: 'retry', inMs: 0 })).toBe('pending')
    }
    const [view] = await store.deliveries.list({ limit: 1 })
    expect(view?.attempts).toEqual([failed, failed, failed])
  })

  test('a superseded version without an attempt is still claimed, before the newer one', async ({ store }) => {
    const payment = await indexed(store)
    await nextVersion(store, payment)
    expect(versions(await store.deliveries.claim(lease))).toEqual([1, 2])
  })

  test('a due retry of a superseded version is settled as superseded instead', async ({ store }) => {
    const payment = await indexed(store)
    await settleOne(store, await claimOne(store), failed, { kind: 'retry', inMs: 0 })
    await nextVersion(store, payment)
    expect(versions(await store.deliveries.claim(lease))).toEqual([2])
    const [first] = await store.deliveries.list({ limit: 10 })
    expect(first).toMatchObject({ version: 1, status: 'superseded', nextAttemptAt: null, attempts: [failed] })
  })

  test('a lost lease is not the one attempt of a superseded version', async ({ store, endingLeaseMs, claimAfter }) => {
    const payment = await indexed(store)
    await claimOne(store, endingLeaseMs)
    await nextVersion(store, payment)
    expect(versions(await store.deliveries.claim(lease))).toEqual([2])
    const [again] = await claimAfter(endingLeaseMs)
    expect(again).toMatchObject({ version: 1, attempt: 1 })
  })

  test('a newer version supersedes a retry only if it has a delivery', async ({ store }) => {
    const payment = await indexed(store)
    const retry = { kind: 'retry', inMs: 0 } as const
    const claim = await claimOne(store)
    await fixtures.updateIntegration(store, shop, { notificationUrl: null })
    await nextVersion(store, payment)
    await fixtures.updateIntegration(store, shop, { notificationUrl: 'https://shop.example/hook' })
    expect(await settleOne(store, claim, failed, retry)).toBe('pending')
    expect(await settleOne(store, await claimOne(store), failed, retry)).toBe('pending')
    await nextVersion(store, payment)
    expect(versions(await store.deliveries.claim(lease))).toEqual([3])
    expect(await store.deliveries.list({ status: 'superseded', limit: 10 })).toMatchObject([{ version: 1 }])
  })

  test('a claim returns the stored bytes of any body', async ({ store }) => {
    const bodies = [
      Uint8Array.from({ length: 512 }, (_, n) => n % 256),
      new TextEncoder().encode(String.raw`{"memo":"a \"quoted\" \\ \u0000 \134"}`),
      Uint8Array.from([0x5c]),
      Uint8Array.from([0x5c, 0x5c, 0x31, 0x33, 0x34]),
      Uint8Array.from([0xff]),
      new Uint8Array(),
    ]
    await store.transaction(async (tx) => {
      const { inserted } = await tx.upsertPayments(bodies.map((_, n) => primary({ txHash: hash(n) })))
      await tx.insertSnapshots(inserted.map((payment, n) => makeSnapshot(payment, 1, bodies[n] ?? new Uint8Array())))
    })
    const claims = await store.deliveries.claim({ limit: 10, leaseMs: 60_000 })
    expect(claims.map(({ body }) => body)).toEqual(bodies)
  })

  test('a lease that ends during the claim returns no delivery twice', async ({ store, passTime }) => {
    await indexAll(store, numbered(300))
    for (let round = 0; round < 5; round += 1) {
      const claims = await store.deliveries.claim({ limit: 1_000, leaseMs: 1 })
      expect(new Set(hashes(claims)).size).toBe(claims.length)
      await passTime(1, async () => (await store.deliveries.msUntilDue()) === 0)
    }
  })
}
