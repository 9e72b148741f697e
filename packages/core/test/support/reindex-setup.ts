/** An indexed chain, and a reindex of it. @module */
import type { ServiceEvent } from '../../src/events.js'
import { type ReindexReport, type ReindexRequest, reindex } from '../../src/indexer/reindex.js'
import type { PaymentFacts } from '../../src/payments/payment.js'
import type { Chain } from '../../src/ports/chain.js'
import { fakeChain } from './fake-chain.js'
import { type IndexerParts, paymentAt, setUpIndexer } from './indexer-setup.js'
import { openStore } from './store.js'
import { hashOf } from './stored-payment.js'

/** Confirmations until a block is final. */
export const finalityBlocks = 12
/** Hashes of the payments at heights. */
export const names = (...heights: number[]) => heights.map((height) => hashOf(`payment at ${height}`))

/** A chain with a payment in each block, indexed from a node that answers them as `falsify` changes them. */
export async function indexed(blocks: number, falsify: (facts: PaymentFacts) => PaymentFacts[] = (facts) => [facts]) {
  const parts: IndexerParts = { chain: fakeChain(), store: openStore() }
  const setup = setUpIndexer({ finalityBlocks, maxRange: 10 }, parts)
  const { chain, store } = setup
  chain.mine(blocks, paymentAt)
  chain.intercept = (call) => {
    if (call[0] !== 'range') return undefined
    const range = chain.rangeOf(call[1], call[2])
    return { ...range, payments: range.payments.flatMap(falsify) }
  }
  await setup.catchUp()
  chain.intercept = null
  const events: ServiceEvent[] = []
  const slept: number[] = []
  const clock = { now: () => 0, sleep: async (ms: number) => void slept.push(ms) }
  const random = { fraction: () => 1, bytes: (length: number) => new Uint8Array(length) }
  const publish = (event: ServiceEvent) => events.push(event)
  const deps = { store, publish, clock, random, confirmations: { 1: finalityBlocks } }
  const run = (request: ReindexRequest, through: Chain = chain, signal?: AbortSignal) =>
    reindex({ ...deps, chain: through }, request, signal)
  return {
    ...setup,
    reindexed: events,
    slept,
    run,
    async all(request: ReindexRequest, through?: Chain) {
      const reports: ReindexReport[] = []
      for await (const report of run(request, through)) reports.push(report)
      return { reports, differences: reports.flatMap(({ differences }) => differences) }
    },
    payments: () => store.committed.payments.toSorted((a, b) => a.blockNumber - b.blockNumber),
    stored: (height: number) =>
      store.committed.payments.find(({ txHash }) => txHash === hashOf(`payment at ${height}`)),
  }
}
