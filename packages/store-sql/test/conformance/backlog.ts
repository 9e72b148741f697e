/** Tests: the backlog. @module */
import { expect } from 'vitest'
import * as fixtures from './fixtures.js'
import { type StoreTest, withShop } from './subject.js'

const { address, failed, hash, indexed, indexPayments, integration, otherShop, primary, settleOne, shop } = fixtures
export function backlogTests(plain: StoreTest): void {
  const test = withShop(plain)
  test('pending deliveries are counted up to `atMost`, leased ones too', async ({ store }) => {
    await store.integrations.insert(integration({ address: otherShop }))
    const names = Array.from({ length: 12 }, (_, n) => ({
      txHash: hash(n),
      integrationAddress: n % 2 === 0 ? shop : otherShop,
    }))
    await store.transaction((tx) =>
      indexPayments(
        tx,
        names.map((name) => primary(name)),
      ),
    )
    const pending = async (atMost: number) => (await store.deliveries.backlog({ atMost })).pending
    expect([await pending(100), await pending(12), await pending(11), await pending(1)]).toEqual([12, 12, 11, 1])
    const [claim] = await store.deliveries.claim({ limit: 3, leaseMs: 60_000 })
    expect(await pending(100)).toBe(12)
    if (claim === undefined) throw new Error('No delivery was due.')
    await settleOne(store, claim, failed, { kind: 'retry', inMs: 60_000 })
    expect(await pending(100)).toBe(12)
  })

  test('settled deliveries, and those of disabled integrations or without a URL, do not count', async ({ store }) => {
    const [off, silent] = [address(0xf0), address(0xf1)]
    await store.integrations.insert(integration({ address: off }))
    await store.integrations.insert(integration({ address: silent }))
    for (const [n, integrationAddress] of [shop, shop, off, silent].entries())
      await indexed(store, { txHash: hash(n), integrationAddress })
    await store.integrations.update(off, { enabled: false })
    await store.integrations.update(silent, { notificationUrl: null })
    expect((await store.deliveries.backlog({ atMost: 100 })).pending).toBe(2)
    for (const [kind, left] of [
      ['delivered', 1],
      ['exhausted', 0],
    ] as const) {
      const [claim] = await store.deliveries.claim({ limit: 1, leaseMs: 60_000 })
      if (claim === undefined) throw new Error('No delivery was due.')
      await settleOne(store, claim, failed, { kind })
      expect((await store.deliveries.backlog({ atMost: 100 })).pending).toBe(left)
    }
    expect(await store.deliveries.backlog({ atMost: 100 })).toEqual({
      pending: 0,
      oldestDueMs: null,
      oldestBlockedMs: null,
    })
  })

  test('the age of the backlog is that of the oldest delivery that is due and unleased', async ({
    store,
    passTime,
  }) => {
    await indexed(store)
    const age = async () => (await store.deliveries.backlog({ atMost: 1 })).oldestDueMs
    expect(await age()).toBeGreaterThanOrEqual(0)
    await passTime(50, async () => ((await age()) ?? 0) >= 50)
    await indexed(store, { txHash: hash(2) })
    expect(await age()).toBeGreaterThanOrEqual(50)
    const [first, second] = await store.deliveries.claim({ limit: 2, leaseMs: 60_000 })
    expect(await age()).toBeNull()
    if (first === undefined || second === undefined) throw new Error('Two deliveries were due.')
    await settleOne(store, first, failed, { kind: 'retry', inMs: 60_000 })
    expect(await age()).toBeNull()
    await settleOne(store, second, failed, { kind: 'retry', inMs: 0 })
    expect(await age()).toBeGreaterThanOrEqual(0)
    expect(await age()).toBeLessThan(60_000)
  })
}
