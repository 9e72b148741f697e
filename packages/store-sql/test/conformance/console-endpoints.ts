/** Tests: integrations and their endpoints as the console reads them. @module */

import type { AttemptRecord, EndpointJudge } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { answered, claimOne, epoch, failed, hash, indexed, integration, otherShop, shop } from './fixtures.js'
import { type StoreTest, withShop } from './subject.js'

const count: EndpointJudge = ({ failures }, results) => ({
  failures: failures + results.length,
  blocks: 0,
  blockMs: null,
})

/** One delivery of the shop for each attempt; every one is settled as exhausted. */
async function attempted(store: Store, attempts: readonly AttemptRecord[], judge: EndpointJudge): Promise<void> {
  for (const [n, attempt] of attempts.entries()) {
    await indexed(store, { txHash: hash(n) })
    const claim = await claimOne(store)
    await store.deliveries.settle([{ claim, attempt, verdict: { kind: 'exhausted' } }], judge)
  }
}
export function consoleEndpointTests(plain: StoreTest): void {
  const test = withShop(plain)
  plain('integrations come by address, in pages, each once, and without secrets', async ({ store }) => {
    const sealed = integration().signingSecret
    const previousSigningSecret = { ...sealed, until: epoch + 1 }
    await store.integrations.insert(integration({ name: 'First', previousSigningSecret }))
    await store.integrations.insert(integration({ address: otherShop, enabled: false, preparedSigningSecret: sealed }))
    const all = await store.console.integrations({ limit: 10 })
    const stored = await store.integrations.list()
    expect(all).toEqual(
      stored.map(({ address, name, notificationUrl, enabled, createdAt, ...secrets }) => ({
        ...{ address, name, notificationUrl, enabled, createdAt, health: null },
        signingSecretPrepared: secrets.preparedSigningSecret !== null,
        previousSigningSecretUntil: secrets.previousSigningSecret?.until ?? null,
      })),
    )
    const first = await store.console.integrations({ limit: 1 })
    const rest = await store.console.integrations({ limit: 10, afterAddress: first[0]?.address })
    expect([...first, ...rest]).toEqual(all)
  })

  test('an integration comes with the health of its endpoint', async ({ store }) => {
    await store.integrations.insert(integration({ address: otherShop }))
    await attempted(store, [failed], count)
    const [expected] = await store.deliveries.endpoints()
    const health = (await store.console.integrations({ limit: 10 })).map((each) => [each.address, each.health])
    expect(health.sort()).toEqual(
      [
        [shop, expected],
        [otherShop, null],
      ].sort(),
    )
    expect(expected).toMatchObject({ failures: 1 })
    const failing = async (afterAddress?: string) =>
      (await store.console.integrations({ isFailing: true, afterAddress, limit: 10 })).map(({ address }) => address)
    expect(await failing()).toEqual([shop])
    expect(await failing(shop)).toEqual([])
  })

  test('latencies are of answers and of timeouts, by integration', async ({ store }) => {
    await store.integrations.insert(integration({ address: otherShop }))
    const none = { status: null, excerpt: null }
    await attempted(
      store,
      [
        { ...answered, latencyMs: 30 },
        { ...failed, latencyMs: 12.5 },
        { ...failed, ...none, reason: 'timeout', latencyMs: 5_000 },
        { ...failed, ...none, reason: 'connection', latencyMs: 1 },
      ],
      (before) => ({ ...before, blockMs: null }),
    )
    expect((await store.console.latencies(shop)).sort((a, b) => a - b)).toEqual([12.5, 30, 5_000])
    expect(await store.console.latencies(otherShop)).toEqual([])
  })
}
