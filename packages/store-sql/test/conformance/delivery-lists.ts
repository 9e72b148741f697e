/** Tests: listings of deliveries, and the backlog. @module */
import type { DeliveryFilter } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import * as fixtures from './fixtures.js'
import { type StoreTest, withShop } from './subject.js'

const { address, answered, claimOne, claimSome, failed, hash, indexAll, indexed, integration, nextVersion } = fixtures
const { numbered, otherShop, settleOne, shop } = fixtures

/** Six deliveries: of two integrations, on two chains, in every status. */
async function sixDeliveries(store: Store): Promise<void> {
  await fixtures.insertIntegration(store, integration({ address: otherShop }))
  const settle = async (kind: 'delivered' | 'exhausted' | 'retry') =>
    settleOne(
      store,
      await claimOne(store),
      kind === 'delivered' ? answered : failed,
      kind === 'retry' ? { kind, inMs: 3_600_000 } : { kind },
    )
  const first = await indexed(store, { txHash: hash(1) })
  await settle('retry')
  await indexed(store, { txHash: hash(1), chainId: 10, integrationAddress: otherShop })
  await settle('delivered')
  await nextVersion(store, first)
  await settle('exhausted')
  await indexed(store, { txHash: hash(2) })
  await settle('exhausted')
  await indexed(store, { txHash: hash(3), integrationAddress: otherShop })
  await settle('exhausted')
  await indexed(store, { txHash: hash(4) })
}

const filters: readonly [string, DeliveryFilter, readonly number[]][] = [
  ['nothing given', {}, [1, 2, 3, 4, 5, 6]],
  ['an integration', { integrationAddress: otherShop }, [2, 5]],
  ['a chain', { chainId: 10 }, [2]],
  ['a hash', { txHash: hash(1) }, [1, 2, 3]],
  ['a hash on a chain', { txHash: hash(1), chainId: 1 }, [1, 3]],
  ['a hash of an integration', { txHash: hash(1), integrationAddress: shop, chainId: 1 }, [1, 3]],
  ['a hash of another integration', { txHash: hash(2), integrationAddress: otherShop }, []],
  ['a hash on another chain', { txHash: hash(2), chainId: 10 }, []],
  ['a hash that is exhausted', { txHash: hash(1), status: 'exhausted' }, [3]],
  ['a hash that is nobody\u2019s', { txHash: hash(9) }, []],
  ['pending', { status: 'pending' }, [1, 6]],
  ['delivered', { status: 'delivered' }, [2]],
  ['exhausted', { status: 'exhausted' }, [3, 4, 5]],
  ['superseded', { status: 'superseded' }, []],
  ['exhausted of an integration', { status: 'exhausted', integrationAddress: shop }, [3, 4]],
  ['exhausted of an integration on a chain', { status: 'exhausted', integrationAddress: shop, chainId: 1 }, [3, 4]],
  ['delivered of an integration', { status: 'delivered', integrationAddress: otherShop }, [2]],
  ['pending of an integration', { status: 'pending', integrationAddress: shop }, [1, 6]],
  ['pending of another integration', { status: 'pending', integrationAddress: otherShop }, []],
  ['delivered of another integration', { status: 'delivered', integrationAddress: shop }, []],
  ['superseded of an integration', { status: 'superseded', integrationAddress: shop }, []],
  ['pending on a chain', { status: 'pending', chainId: 1 }, [1, 6]],
  ['pending on another chain', { status: 'pending', chainId: 10 }, []],
  ['since ever', { since: 0 }, [1, 2, 3, 4, 5, 6]],
  ['until the beginning', { until: 1 }, []],
  ['since the end of time', { since: Number.MAX_SAFE_INTEGER }, []],
  ['until the end of time', { until: Number.MAX_SAFE_INTEGER, status: 'delivered' }, [2]],
  ['everything at once', { integrationAddress: shop, chainId: 1, txHash: hash(2), status: 'exhausted', since: 1 }, [4]],
]
export function deliveryListTests(plain: StoreTest): void {
  const test = withShop(plain)
  test('deliveries are listed oldest first and counted, by every field of a filter', async ({ store }) => {
    await sixDeliveries(store)
    const all = await store.deliveries.list({ limit: 10 })
    expect(all).toHaveLength(6)
    for (const [name, filter, expected] of filters) {
      const views = expected.map((n) => all[n - 1])
      expect(await store.deliveries.list({ ...filter, limit: 10 }), name).toEqual(views)
      expect(await store.deliveries.count(filter), name).toBe(expected.length)
      expect(await store.deliveries.count(filter, { atMost: 2 }), name).toBe(Math.min(2, expected.length))
      const fitting = await store.deliveries.list({ ...filter, limit: 1_000 })
      expect(await store.deliveries.newestId(filter), name).toBe(fitting.at(-1)?.deliveryId ?? null)
      const [, afterFirst] = views
      const rest = { ...filter, afterId: views[0]?.deliveryId, limit: 1 }
      if (views[0] !== undefined)
        expect(await store.deliveries.list(rest), name).toEqual(afterFirst ? [afterFirst] : [])
    }
  })

  test('the console lists deliveries newest first, by every filter, and pages have each once', async ({ store }) => {
    await sixDeliveries(store)
    const all = await store.deliveries.list({ limit: 10 })
    const { deliveries } = store.console
    for (const [name, filter, expected] of filters) {
      const whole = await deliveries({ ...filter, limit: 10 })
      expect(whole, name).toEqual({ rows: expected.map((n) => all[n - 1]).reverse(), next: null, isCut: false })
      const first = await deliveries({ ...filter, limit: 1 })
      const rest = await deliveries({ ...filter, limit: 10, beforeId: first.next ?? '1' })
      expect([...first.rows, ...rest.rows], name).toEqual(whole.rows)
    }
  })

  test('a delivery is found by its id with all its attempts, and nothing by another id', async ({ store }) => {
    await sixDeliveries(store)
    for (const view of await store.deliveries.list({ limit: 10 }))
      expect(await store.deliveries.find(view.deliveryId)).toEqual(view)
    for (const unknown of ['987654321', '0', '', 'x', '1 or 1=1', '-1', '1.5', '9'.repeat(30)])
      expect(await store.deliveries.find(unknown)).toBeNull()
  })

  test('`since` is inclusive and `until` is exclusive', async ({ store, passTime }) => {
    const times: number[] = []
    for (let n = 1; n <= 4; n += 1) {
      await indexed(store, { txHash: hash(n) })
      const [newest] = (await store.deliveries.list({ limit: 10 })).slice(-1)
      times.push(newest?.createdAt ?? 0)
      expect(newest?.nextAttemptAt).toBe(newest?.createdAt)
      const age = async () => (await store.deliveries.backlog({ atMost: 1 })).oldestDueMs ?? 0
      await passTime(10, async () => (await age()) >= 10 * n)
    }
    const found = async (filter: DeliveryFilter) =>
      (await store.deliveries.list({ ...filter, limit: 10 })).map(({ txHash }) => Number(BigInt(txHash)))
    const [first = 0, second = 0, third = 0] = times
    expect(new Set(times).size).toBe(4)
    expect(await found({ since: second })).toEqual([2, 3, 4])
    expect(await found({ since: second + 1 })).toEqual([3, 4])
    expect(await found({ until: third })).toEqual([1, 2])
    expect(await found({ since: first, until: third })).toEqual([1, 2])
    expect(await found({ since: third, until: third })).toEqual([])
    expect(await store.deliveries.count({ since: second, until: third + 1 })).toBe(2)
    const { rows } = await store.console.deliveries({ since: second, until: third, limit: 10 })
    expect(rows.map(({ createdAt }) => createdAt)).toEqual([second])
  })

  test('pending deliveries are counted up to `atMost`, leased ones too', async ({ store }) => {
    await fixtures.insertIntegration(store, integration({ address: otherShop }))
    await indexAll(store, [...numbered(6), ...numbered(6, 6, { integrationAddress: otherShop })])
    const pending = async (atMost: number) => (await store.deliveries.backlog({ atMost })).pending
    expect([await pending(100), await pending(12), await pending(11), await pending(1)]).toEqual([12, 12, 11, 1])
    const [claim] = await claimSome(store, 3)
    expect(await pending(100)).toBe(12)
    await settleOne(store, claim, failed, { kind: 'retry', inMs: 60_000 })
    expect(await pending(100)).toBe(12)
  })

  test('settled deliveries, and those of disabled integrations or without a URL, do not count', async ({ store }) => {
    const [off, silent] = [address(0xf0), address(0xf1)]
    await fixtures.insertIntegration(store, integration({ address: off }))
    await fixtures.insertIntegration(store, integration({ address: silent }))
    for (const [n, integrationAddress] of [shop, shop, off, silent].entries())
      await indexed(store, { txHash: hash(n), integrationAddress })
    await fixtures.updateIntegration(store, off, { enabled: false })
    await fixtures.updateIntegration(store, silent, { notificationUrl: null })
    expect((await store.deliveries.backlog({ atMost: 100 })).pending).toBe(2)
    for (const [kind, left] of [
      ['delivered', 1],
      ['exhausted', 0],
    ] as const) {
      const claim = await claimOne(store)
      await settleOne(store, claim, failed, { kind })
      expect((await store.deliveries.backlog({ atMost: 100 })).pending).toBe(left)
    }
    expect(await store.deliveries.backlog({ atMost: 100 })).toEqual({
      pending: 0,
      oldestDueMs: null,
      oldestBlockedMs: null,
    })
  })

  test('the backlog is as old as the oldest delivery that is due and unleased', async ({ store, passTime }) => {
    await indexed(store)
    const age = async () => (await store.deliveries.backlog({ atMost: 1 })).oldestDueMs
    expect(await age()).toBeGreaterThanOrEqual(0)
    await passTime(50, async () => ((await age()) ?? 0) >= 50)
    await indexed(store, { txHash: hash(2) })
    expect(await age()).toBeGreaterThanOrEqual(50)
    const [first, second] = await claimSome(store, 2)
    expect(await age()).toBeNull()
    await settleOne(store, first, failed, { kind: 'retry', inMs: 60_000 })
    expect(await age()).toBeNull()
    await settleOne(store, second, failed, { kind: 'retry', inMs: 0 })
    expect(await age()).toBeGreaterThanOrEqual(0)
    expect(await age()).toBeLessThan(60_000)
  })
}
