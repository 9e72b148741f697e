/** Sets up a service on a new store and on scripted chains, for the tests of use cases. @module */
import { createService, parseMasterKey, type Service, type ServiceEvent } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { afterEach, beforeEach } from 'vitest'
import { hex, makeTxHash, type ScriptedPayment, scriptedChain } from './scripted-chain.js'

/** Yields an empty, migrated store. */
export type OpenMigrated = () => Promise<{ store: Store; close(): Promise<void> }>

/** The integration of tests with one, and its reader. */
export const shop = hex('shop', 20)

const masterKey = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')

/** An update about the payment of `tx` on chain 137. */
export const update = (id: string, tx: string, change: object) => ({
  id,
  chainId: '137',
  txHash: makeTxHash(tx),
  ...change,
})

/** The outcome and version of one of several updates, or that its id has another content. */
export const formatOutcome = (settled: Awaited<ReturnType<Service['applyUpdates']>>[number]): string =>
  settled.status === 'fulfilled' ? `${settled.value.outcome} ${settled.value.version}` : 'conflict'

/** Opens a store for each test of the surrounding `describe`. */
export function useCaseSetup(open: OpenMigrated) {
  const events: ServiceEvent[] = []
  let store: Store
  let close: () => Promise<void>
  beforeEach(async () => {
    ;({ store, close } = await open())
    events.length = 0
  })
  afterEach(() => close())

  function setupOn(on: Store, ...chains: ReturnType<typeof scriptedChain>[]): Service {
    return createService({
      store: on,
      masterKey,
      sender: { post: async () => ({ kind: 'answer', status: 200, retryAfter: null, excerpt: null, latencyMs: 1 }) },
      chains: chains.map(({ chain }) => ({ chain, startBlock: 0 })),
      onEvent: (event) => events.push(event),
    })
  }
  const setup = (...chains: ReturnType<typeof scriptedChain>[]) => setupOn(store, ...chains)
  async function indexAll(service: Service) {
    for (const indexer of service.indexers) while (!(await indexer.step())) {}
  }
  return {
    /** The events that the services of this test published. */
    events,
    openStore: () => store,
    setup,
    /** A service on a store that the test has wrapped. */
    setupOn,
    indexAll,
    async withPayments(...payments: ScriptedPayment[]) {
      const chain = scriptedChain(137)
      const service = setup(chain)
      await service.integrations.create({ address: shop, notificationUrl: 'https://shop.example/hook' })
      chain.mine(payments)
      await indexAll(service)
      return { chain, service }
    },
    /** The bodies of all deliveries that are due, sorted. */
    async bodies() {
      const claims = await store.deliveries.claim({ limit: 1_000, leaseMs: 1 })
      return claims.map(({ body }) => new TextDecoder().decode(body)).sort()
    },
    /** The versions that changes made, in the order in which they were published. */
    changes: () => events.flatMap((event) => (event.type === 'payment.changed' ? [event.version] : [])),
  }
}
