/** Tests: endpoints that fail are blocked, probed and come back. @module */
import type { ClaimedDelivery, EndpointJudge, EndpointResult, SettledAttempt } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import * as fixtures from './fixtures.js'
import { type StoreTest, withShop } from './subject.js'

const { answered, claimOne, claimSome, failed, hash, indexAll, indexed, integration, numbered, otherShop } = fixtures
const { shop } = fixtures

const lease = { limit: 100, leaseMs: 60_000 }

/** Blocks for `blockMs` at each failure, until an answer. */
const blockFor =
  (blockMs: number): EndpointJudge =>
  ({ failures, blocks }, results) =>
    results.some(({ delivered }) => delivered)
      ? { failures: 0, blocks: 0, blockMs: null }
      : { failures: failures + results.length, blocks: blocks + 1, blockMs }

/** Counts failures and blocks nothing. */
const countOnly: EndpointJudge = ({ failures, blocks }, results) => ({
  failures: results.some(({ delivered }) => delivered) ? 0 : failures + results.length,
  blocks,
  blockMs: null,
})

const retry = { kind: 'retry', inMs: 0 } as const
const fail = (claim: ClaimedDelivery): SettledAttempt => ({ claim, attempt: failed, verdict: retry })
const delivered = { attempt: answered, verdict: { kind: 'delivered' } } as const
const deliver = (claim: ClaimedDelivery): SettledAttempt => ({ claim, ...delivered })

async function owe(store: Store, count: number, integrationAddress = shop): Promise<void> {
  const from = integrationAddress === shop ? 1 : 1_001
  await indexAll(store, numbered(count, from, { integrationAddress }))
}

/** Blocks an endpoint with some deliveries for `blockMs`; its first delivery is due again in `inMs`. */
async function blocked(store: Store, blockMs: number, count = 5, inMs = 0): Promise<void> {
  await owe(store, count)
  const failure = { ...fail(await claimOne(store)), verdict: { kind: 'retry', inMs } as const }
  const { transitions } = await store.deliveries.settle([failure], blockFor(blockMs))
  const [view] = await store.deliveries.endpoints()
  const { failingSince, blockedUntil } = view ?? {}
  expect(blockedUntil).toBe((failingSince ?? 0) + blockMs)
  expect(transitions).toEqual([{ integrationAddress: shop, failures: 1, blockedUntil, failingMs: 0 }])
}

export function endpointHealthTests(plain: StoreTest): void {
  const test = withShop(plain)
  test('the judge gets counted results of held leases, in the order given', async ({ store }) => {
    await fixtures.insertIntegration(store, integration({ address: otherShop }))
    await owe(store, 6)
    await owe(store, 2, otherShop)
    const claims = await store.deliveries.claim(lease)
    const of = (own: string) => claims.filter(({ integrationAddress }) => integrationAddress === own)
    const [c0, c1, c2, c3, c4, , d0, d1] = [...of(shop), ...of(otherShop)]
    if (!c0 || !c1 || !c2 || !c3 || !c4 || !d0 || !d1) throw new Error('Eight deliveries were due.')
    const seen: [number, readonly EndpointResult[]][] = []
    const judge: EndpointJudge = (before, results) => {
      seen.push([before.failures, results])
      return { ...before, blockMs: null }
    }
    await store.deliveries.settle(
      [
        deliver(c2),
        fail(d0),
        fail({ ...c0, probe: true }),
        { ...fail(c3), countsForHealth: false },
        fail({ ...c4, leaseToken: c4.leaseToken.replace(/^./, 'x') }),
        deliver(c1),
        fail(d1),
      ],
      judge,
    )
    const plain = (delivered: boolean, probe = false) => ({ delivered, probe })
    expect(seen).toEqual([
      [0, [plain(true), plain(false, true), plain(true)]],
      [0, [plain(false), plain(false)]],
    ])
  })

  test('endpoints are listed up to a limit, by address', async ({ store }) => {
    await fixtures.insertIntegration(store, integration({ address: otherShop }))
    await owe(store, 1)
    await owe(store, 1, otherShop)
    await store.deliveries.settle((await store.deliveries.claim(lease)).map(fail), countOnly)
    const all = await store.deliveries.endpoints()
    expect(all).toHaveLength(2)
    expect(await store.deliveries.endpoints({ limit: 1 })).toEqual(all.slice(0, 1))
  })

  test('failures in a row are stored and listed, and an answer ends them', async ({ store, passTime }) => {
    await fixtures.insertIntegration(store, integration({ address: otherShop }))
    await owe(store, 3)
    await owe(store, 1, otherShop)
    const claims = await store.deliveries.claim(lease)
    const [first, second, third] = claims.filter(({ integrationAddress }) => integrationAddress === shop)
    const other = claims.find(({ integrationAddress }) => integrationAddress === otherShop)
    if (!first || !second || !third || !other) throw new Error('Four deliveries were due.')
    expect(await store.deliveries.endpoints()).toEqual([])
    expect((await store.deliveries.settle([fail(first)], countOnly)).transitions).toEqual([])
    const [one] = await store.deliveries.endpoints()
    const { failingSince } = one ?? {}
    expect(one).toEqual({ integrationAddress: shop, failures: 1, blocks: 0, failingSince, blockedUntil: null })
    await passTime(5, async () => true)
    await store.deliveries.settle([fail(second), deliver(other)], countOnly)
    expect(await store.deliveries.endpoints()).toEqual([{ ...one, failures: 2 }])
    expect(await store.deliveries.endpoint(shop)).toEqual({ ...one, failures: 2 })
    expect(await store.deliveries.endpoint(otherShop)).toBeNull()
    await store.deliveries.settle([deliver(third)], countOnly)
    expect(await store.deliveries.endpoints()).toEqual([])
  })

  test('a block that ends later than any block lasts has ended: a clock that was ahead wrote it', async ({ store }) => {
    await blocked(store, 3_600_000)
    const longest = { leaseMs: 86_400_000, retryMs: [86_400_000] }
    expect(await store.deliveries.resetOverlongWaits({ ...longest, blockMs: 3_600_000 })).toBe(0)
    expect(await store.deliveries.claim(lease)).toEqual([])
    expect(await store.deliveries.resetOverlongWaits({ ...longest, blockMs: 72_000 })).toBe(1)
    expect(await store.deliveries.claim(lease)).toMatchObject([{ integrationAddress: shop, probe: true }])
  })

  test('a blocked endpoint gives nothing, and deliveries of others are claimed', async ({ store }) => {
    await blocked(store, 3_600_000)
    await fixtures.insertIntegration(store, integration({ address: otherShop }))
    expect(await store.deliveries.claim(lease)).toEqual([])
    const ms = await store.deliveries.msUntilDue()
    expect(ms).toBeGreaterThan(3_500_000)
    expect(ms).toBeLessThanOrEqual(3_600_000)
    expect(await store.deliveries.backlog({ atMost: 10 })).toMatchObject({
      pending: 5,
      oldestDueMs: null,
      oldestBlockedMs: expect.any(Number),
    })
    await owe(store, 2, otherShop)
    expect(await store.deliveries.msUntilDue()).toBe(0)
    const claims = await store.deliveries.claim(lease)
    expect(claims.map(({ integrationAddress }) => integrationAddress)).toEqual([otherShop, otherShop])
    const [view] = await store.deliveries.endpoints()
    expect(view).toMatchObject({ integrationAddress: shop, failures: 1, blocks: 1 })
    expect((view?.blockedUntil ?? 0) - (view?.failingSince ?? 0)).toBe(3_600_000)
  })

  test('after a block the longest due delivery alone is claimed: the probe', async ({ store, claimAfter }) => {
    await blocked(store, 30, 5, 1)
    const claims = await claimAfter(30)
    expect(claims).toMatchObject([{ txHash: hash(2), attempt: 1, probe: true, replay: false }])
    expect(await store.deliveries.claim(lease)).toEqual([])
    expect(await store.deliveries.msUntilDue()).toBeGreaterThan(50_000)
  })

  test('a retry due longer than any first attempt is the probe', async ({ store, passTime, claimAfter }) => {
    await owe(store, 1)
    await store.deliveries.settle([fail(await claimOne(store))], blockFor(30))
    await passTime(30, async () => (await store.deliveries.msUntilDue()) === 0)
    await indexed(store, { txHash: hash(100) })
    expect(await claimAfter(0)).toMatchObject([{ txHash: hash(1), attempt: 2, probe: true }])
  })

  test('probes count towards `maxRetries`', async ({ store, passTime }) => {
    await blocked(store, 30)
    await passTime(30, async () => (await store.deliveries.msUntilDue()) === 0)
    expect(await store.deliveries.claim({ ...lease, maxRetries: 0 })).toEqual([])
    expect(await store.deliveries.claim({ ...lease, maxRetries: 1 })).toMatchObject([{ probe: true }])
  })

  test('a delivered probe ends the block; a failed one blocks once more', async ({ store, claimAfter }) => {
    await blocked(store, 30)
    const [first] = await claimAfter(30)
    if (first === undefined) throw new Error('No probe was claimed.')
    expect((await store.deliveries.settle([fail(first)], blockFor(30))).transitions).toEqual([])
    expect(await store.deliveries.endpoints()).toMatchObject([{ failures: 2, blocks: 2 }])
    const [second] = await claimAfter(30)
    if (second === undefined) throw new Error('No probe was claimed.')
    const { transitions } = await store.deliveries.settle([deliver(second)], blockFor(30))
    const failingMs = transitions[0]?.failingMs
    expect(transitions).toEqual([{ integrationAddress: shop, failures: 0, blockedUntil: null, failingMs }])
    expect(failingMs).toBeGreaterThanOrEqual(60)
    expect(await store.deliveries.endpoints()).toEqual([])
    expect((await store.deliveries.claim(lease)).map(({ probe }) => probe)).toEqual([false, false, false, false])
  })

  test('of two dispatchers one gets the probe', async ({ store, twoStores, passTime }) => {
    await blocked(store, 30, 20)
    const stores = await twoStores()
    const claims: ClaimedDelivery[] = []
    await passTime(30, async () => {
      const some = await Promise.all([...stores, ...stores].map(({ deliveries }) => deliveries.claim(lease)))
      claims.push(...some.flat())
      return claims.length > 0
    })
    expect(claims.map(({ probe }) => probe)).toEqual([true])
  })

  test('after the lease of an unsettled probe another is claimed', async ({ store, endingLeaseMs, claimAfter }) => {
    await blocked(store, 30)
    const [dead] = await claimAfter(30, endingLeaseMs)
    expect(await store.deliveries.claim(lease)).toEqual([])
    const [next, ...others] = await claimAfter(endingLeaseMs)
    expect(others).toEqual([])
    expect(next).toMatchObject({ probe: true, attempt: 1 })
    expect(next?.leaseToken).not.toBe(dead?.leaseToken)
  })

  test('a health change without a block length leaves the block unchanged', async ({ store }) => {
    await owe(store, 3)
    const [first, second] = await claimSome(store, 2)
    await store.deliveries.settle([fail(first)], blockFor(3_600_000))
    const before = await store.deliveries.endpoints()
    await store.deliveries.settle([fail(second)], countOnly)
    expect(await store.deliveries.endpoints()).toEqual(before.map((view) => ({ ...view, failures: 2 })))
  })

  test('a new URL resets the health of its endpoint; results of the old do not count', async ({ store, passTime }) => {
    await blocked(store, 3_600_000)
    await fixtures.updateIntegration(store, shop, { notificationUrl: 'https://shop.example/hook', name: 'Same URL' })
    expect(await store.deliveries.claim(lease)).toEqual([])
    await fixtures.updateIntegration(store, shop, { notificationUrl: 'https://new.example' })
    expect(await store.deliveries.endpoints()).toEqual([])
    const [late, fresh, paid] = await claimSome(store, 3)
    await store.transaction((tx) => tx.integrations.update(shop, { notificationUrl: 'https://newer.example' }))
    const settled = await store.deliveries.settle([fail(late)], blockFor(3_600_000))
    expect(settled).toEqual({ statuses: ['pending'], transitions: [] })
    expect(await store.deliveries.endpoints()).toEqual([])
    const now = await claimOne(store)
    await store.deliveries.settle([fail(now), fail(fresh)], countOnly)
    expect(await store.deliveries.endpoints()).toMatchObject([{ failures: 1 }])
    await passTime(5, async () => true)
    const blocking = await store.deliveries.settle([deliver(paid), fail(await claimOne(store))], blockFor(30))
    expect(blocking.transitions[0]?.failingMs).toBeGreaterThanOrEqual(5)
  })

  test('enabling a disabled integration resets its health, and enabling an enabled one does not', async ({ store }) => {
    await blocked(store, 3_600_000)
    await fixtures.updateIntegration(store, shop, { enabled: true })
    expect(await store.deliveries.endpoints()).toHaveLength(1)
    await fixtures.updateIntegration(store, shop, { enabled: false })
    expect(await store.deliveries.endpoints()).toHaveLength(1)
    await fixtures.updateIntegration(store, shop, { enabled: true })
    expect(await store.deliveries.endpoints()).toEqual([])
    expect(await store.deliveries.claim(lease)).toHaveLength(5)
  })

  test('concurrent failures of one endpoint on two stores are all counted', async ({ store, twoStores }) => {
    await owe(store, 30)
    const claims = await store.deliveries.claim(lease)
    const stores = await twoStores()
    await Promise.all(claims.map((claim, n) => stores[n % 2]?.deliveries.settle([fail(claim)], countOnly)))
    expect(await store.deliveries.endpoints()).toMatchObject([{ failures: 30 }])
  })

  test('a judge that throws leaves nothing written', async ({ store }) => {
    await indexed(store)
    const claim = await claimOne(store)
    const judge = () => {
      throw new Error('No judgment.')
    }
    await expect(store.deliveries.settle([fail(claim)], judge)).rejects.toThrow('No judgment.')
    expect((await store.deliveries.list({ limit: 1 }))[0]?.attempts).toEqual([])
    const settled = await store.deliveries.settle([deliver(claim)], countOnly)
    expect(settled).toEqual({ statuses: ['delivered'], transitions: [] })
  })
}
