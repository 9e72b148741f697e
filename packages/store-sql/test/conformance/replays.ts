/** Tests: replays. @module */
import type { EndpointJudge, ReplayRequest } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { answered, claimOne, failed, hash, indexed, nextVersion, settleOne, shop } from './fixtures.js'
import { type StoreTest, withShop } from './subject.js'

const lease = { limit: 100, leaseMs: 60_000 }
const again = { ...failed, replay: true }
const nothing = { replayed: 0, inFlight: 0, lastId: null }
const replay = (store: Store, request: ReplayRequest) => store.transaction((tx) => tx.replayDeliveries(request))

/** A delivery with this verdict after one attempt. */
async function ended(store: Store, kind: 'delivered' | 'exhausted', n = 1): Promise<string> {
  await indexed(store, { txHash: hash(n) })
  const claim = await claimOne(store)
  await settleOne(store, claim, kind === 'delivered' ? answered : failed, { kind })
  return claim.deliveryId
}
export function replayTests(plain: StoreTest): void {
  const test = withShop(plain)
  for (const kind of ['exhausted', 'delivered'] as const)
    test(`a replay of a delivery that was ${kind} is due at once, as step 1 of a new schedule`, async ({ store }) => {
      const deliveryId = await ended(store, kind)
      expect(await replay(store, { deliveryId, limit: 1 })).toEqual({ replayed: 1, inFlight: 0, lastId: deliveryId })
      expect(await store.deliveries.find(deliveryId)).toMatchObject({
        status: 'pending',
        nextAttemptAt: expect.any(Number),
      })
      const claim = await claimOne(store)
      expect(claim).toMatchObject({ deliveryId, attempt: 2, step: 1, replay: true, probe: false })
      expect(await settleOne(store, claim, again, { kind: 'retry', inMs: 0 })).toBe('pending')
      const retry = await claimOne(store)
      expect(retry).toMatchObject({ deliveryId, attempt: 3, step: 2, replay: true })
      expect(await settleOne(store, retry, { ...answered, replay: true }, { kind: 'delivered' })).toBe('delivered')
      expect((await store.deliveries.find(deliveryId))?.attempts).toEqual([
        kind === 'delivered' ? answered : failed,
        again,
        { ...answered, replay: true },
      ])
    })

  test('a replayed retry is due at once, and the result of an earlier lease is late', async ({ store, passTime }) => {
    await indexed(store)
    const first = await claimOne(store)
    await settleOne(store, first, failed, { kind: 'retry', inMs: 3_600_000 })
    expect(await replay(store, { limit: 10 })).toMatchObject({ replayed: 1 })
    const expired = await claimOne(store, 20)
    await passTime(20, async () => (await store.deliveries.msUntilDue()) === 0)
    expect(await replay(store, { limit: 10 })).toMatchObject({ replayed: 1, inFlight: 0 })
    expect(await settleOne(store, expired, answered, { kind: 'delivered' })).toBeNull()
    expect(await claimOne(store)).toMatchObject({ attempt: 2, step: 1, replay: true })
  })

  test('a leased delivery is not replayed', async ({ store }) => {
    await indexed(store)
    const claim = await claimOne(store)
    const { deliveryId } = claim
    expect(await replay(store, { deliveryId, limit: 1 })).toEqual({ replayed: 0, inFlight: 1, lastId: deliveryId })
    expect(await settleOne(store, claim, failed, { kind: 'exhausted' })).toBe('exhausted')
    expect(await store.deliveries.find(deliveryId)).toMatchObject({ attempts: [failed] })
  })

  test('the age of a replay counts from the replay', async ({ store, passTime }) => {
    const deliveryId = await ended(store, 'exhausted')
    const made = (await store.deliveries.find(deliveryId))?.createdAt ?? 0
    await passTime(100, async () => {
      await indexed(store, { txHash: hash(Math.floor(performance.now() * 1_000) + 100) })
      const [newest] = (await store.deliveries.list({ limit: 100_000 })).slice(-1)
      return (newest?.createdAt ?? 0) - made >= 100
    })
    await store.deliveries.claim({ limit: 1_000, leaseMs: 60_000 })
    await replay(store, { deliveryId, limit: 1 })
    const claim = await claimOne(store)
    expect(claim.deliveryId).toBe(deliveryId)
    expect(claim.ageMs).toBeLessThan(100)
    expect((await store.deliveries.find(deliveryId))?.createdAt).toBe(made)
  })

  test('a replay of a superseded version is claimed, and its retry is superseded', async ({ store }) => {
    const payment = await indexed(store)
    const first = await claimOne(store)
    await settleOne(store, first, failed, { kind: 'exhausted' })
    await nextVersion(store, payment)
    await settleOne(store, await claimOne(store), answered, { kind: 'delivered' })
    await replay(store, { deliveryId: first.deliveryId, limit: 1 })
    const claim = await claimOne(store)
    expect(claim).toMatchObject({ version: 1, replay: true, attempt: 2 })
    expect(await settleOne(store, claim, again, { kind: 'retry', inMs: 0 })).toBe('superseded')
    expect(await store.deliveries.claim(lease)).toEqual([])
    await replay(store, { deliveryId: first.deliveryId, limit: 1 })
    expect(await claimOne(store)).toMatchObject({ version: 1, attempt: 3, step: 1 })
  })

  test('the retry of a replay is a probe, and ends the block when it is delivered', async ({ store, passTime }) => {
    const deliveryId = await ended(store, 'exhausted')
    await replay(store, { deliveryId, limit: 1 })
    const claim = await claimOne(store)
    const block: EndpointJudge = () => ({ failures: 5, blocks: 1, blockMs: 20 })
    await store.deliveries.settle([{ claim, attempt: again, verdict: { kind: 'retry', inMs: 0 } }], block)
    await passTime(20, async () => (await store.deliveries.msUntilDue()) === 0)
    const probe = await claimOne(store)
    expect(probe).toMatchObject({ deliveryId, replay: true, step: 2, probe: true })
    const open: EndpointJudge = () => ({ failures: 0, blocks: 0, blockMs: null })
    await store.deliveries.settle([{ claim: probe, attempt: again, verdict: { kind: 'delivered' } }], open)
    expect(await store.deliveries.endpoints()).toEqual([])
  })

  test('a blocked endpoint gets replays, which do not change its health, and their retries wait', async ({ store }) => {
    const deliveryId = await ended(store, 'exhausted')
    await indexed(store, { txHash: hash(2) })
    const judge: EndpointJudge = () => ({ failures: 1, blocks: 1, blockMs: 3_600_000 })
    const verdict = { kind: 'retry', inMs: 0 } as const
    await store.deliveries.settle([{ claim: await claimOne(store), attempt: failed, verdict }], judge)
    const before = await store.deliveries.endpoints()
    expect(before).toHaveLength(1)
    expect(await store.deliveries.claim(lease)).toEqual([])
    await replay(store, { deliveryId, limit: 1 })
    expect(await store.deliveries.msUntilDue()).toBe(0)
    const [claim, ...others] = await store.deliveries.claim(lease)
    expect(others).toEqual([])
    expect(claim).toMatchObject({ deliveryId, replay: true, probe: false })
    if (claim === undefined) return
    const never: EndpointJudge = () => {
      throw new Error('A replay was judged.')
    }
    await store.deliveries.settle([{ claim, attempt: again, verdict, countsForHealth: false }], never)
    expect(await store.deliveries.endpoints()).toEqual(before)
    expect(await store.deliveries.claim(lease)).toEqual([])
    expect(await store.deliveries.msUntilDue()).toBeGreaterThan(3_500_000)
  })

  test('replaying in parts replays each match once, up to the highest id of its beginning', async ({ store }) => {
    const ids: string[] = []
    for (let n = 1; n <= 7; n += 1) ids.push(await ended(store, n === 4 ? 'delivered' : 'exhausted', n))
    const filter = { status: 'exhausted', integrationAddress: shop, upToId: ids[5] } as const
    const first = await replay(store, { ...filter, limit: 3 })
    expect(first).toEqual({ replayed: 3, inFlight: 0, lastId: ids[2] })
    // A replay that fails at once is not replayed twice.
    for (const claim of await store.deliveries.claim(lease)) await settleOne(store, claim, again, { kind: 'exhausted' })
    const second = await replay(store, { ...filter, afterId: ids[2], limit: 3 })
    expect(second).toEqual({ replayed: 2, inFlight: 0, lastId: ids[5] })
    expect(await replay(store, { ...filter, afterId: ids[5], limit: 3 })).toEqual(nothing)
    const statuses = (await store.deliveries.list({ limit: 10 })).map(({ status }) => status)
    const expected = [...Array(3).fill('exhausted'), 'delivered', 'pending', 'pending', 'exhausted']
    expect(statuses).toEqual(expected)
  })

  test('parallel replays of the same deliveries make each due once', async ({ store }) => {
    const ids: string[] = []
    for (let n = 1; n <= 12; n += 1) ids.push(await ended(store, n % 2 === 0 ? 'delivered' : 'exhausted', n))
    const replays = await Promise.all([1, 2, 3, 4].map(() => replay(store, { limit: 100 })))
    for (const { replayed, inFlight } of replays) expect(replayed + inFlight).toBe(ids.length)
    const claims = await store.deliveries.claim(lease)
    expect(claims.map(({ deliveryId }) => deliveryId).sort()).toEqual([...ids].sort())
    for (const claim of claims) {
      expect(claim).toMatchObject({ attempt: 2, step: 1, replay: true })
      expect(await settleOne(store, claim, { ...answered, replay: true }, { kind: 'delivered' })).toBe('delivered')
    }
    expect(await store.deliveries.claim(lease)).toEqual([])
  })

  test('an unknown id matches nothing', async ({ store }) => {
    await ended(store, 'exhausted')
    for (const deliveryId of ['987654321', 'x', ''])
      expect(await replay(store, { deliveryId, limit: 1 })).toEqual(nothing)
  })
}
