/** The reference adapter: a Map in memory. Source: docs/interface.md 6, receiver obligations. @module */
import { createQueues, createReentryGuard } from './internal/queue.js'
import type { ListingVersionStore } from './version-store.js'
import { checkVersion, decideVersion, normalizeIntegration, toKeyParts } from './version-store.js'

/**
 * Creates an empty store in memory, for tests and trials. Effects get `undefined` as `tx`. A restart forgets every
 * version, so each redelivery runs again. Writes that an effect made elsewhere before it threw stay. If an effect never
 * settles, other deliveries of its payment wait for ever. Its methods throw `ERR_EFFECT_REENTRANT`.
 * @example
 * import { createMemoryVersionStore } from '@payment-integration/version-store'
 * const store = createMemoryVersionStore()
 */
export function createMemoryVersionStore(): ListingVersionStore<undefined> {
  /** Versions by the payment's key as JSON, so that different payments never have the same text. */
  const versions = new Map<string, number>()
  /** One delivery at a time per payment; payments do not wait for each other. */
  const queues = createQueues()
  const guard = createReentryGuard()

  return {
    async advance(payment, effect) {
      guard.check()
      const key = JSON.stringify(toKeyParts(payment))
      const version = checkVersion(payment)
      return queues.run(key, async () => {
        const decision = decideVersion(versions.get(key), version)
        if (decision !== 'apply') return decision
        await guard.start(() => effect(undefined))
        versions.set(key, version)
        return decision
      })
    },
    async current(key) {
      guard.check()
      return versions.get(JSON.stringify(toKeyParts(key)))
    },
    async *list(address) {
      guard.check()
      const normalized = normalizeIntegration(address)
      for (const text of versions.keys()) {
        const [integrationAddress, chainId, txHash] = JSON.parse(text) as [string, string, string]
        if (integrationAddress === normalized) yield { integrationAddress, chainId, txHash }
      }
    },
  }
}
