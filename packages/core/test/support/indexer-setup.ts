import { ChainError } from '../../src/errors.js'
import type { ServiceEvent } from '../../src/events.js'
import { createIndexer, type IndexerOptions } from '../../src/indexer/indexer.js'
import { type ChainCall, type FakeChain, fakeChain } from './fake-chain.js'
import { manualClock } from './manual-clock.js'
import { type MemoryStore, memoryStore } from './memory-store.js'
import { recordingLogger } from './recording-logger.js'

/** What a node that cannot be reached rejects with. */
export const down = () => new ChainError('ERR_CHAIN_UNAVAILABLE', 1, 'no answer from the node')
/** What a range rejects with when one of its blocks vanished. */
export const gone = () => new ChainError('ERR_CHAIN_RANGE_GONE', 1, 'a block vanished')
/** One payment per block, named by its height. */
export const paymentAt = (height: number) => [`payment at ${height}`]

/** An indexer on a chain and a store in memory. A later one on the same parts plays a restart. */
export function setUpIndexer(
  options: Partial<IndexerOptions> = {},
  parts: { chain: FakeChain; store: MemoryStore } = { chain: fakeChain(), store: memoryStore() },
) {
  const { chain, store } = parts
  const clock = manualClock()
  const events: ServiceEvent[] = []
  const logger = recordingLogger()
  const indexer = createIndexer({
    store,
    chain,
    clock,
    random: { fraction: () => 1 },
    publish: (event) => events.push(event),
    logger,
    options: { startBlock: 0, ...options },
  })
  return {
    chain,
    store,
    clock,
    events,
    logger,
    indexer,
    ofType: <T extends ServiceEvent['type']>(type: T) =>
      events.filter((event): event is Extract<ServiceEvent, { type: T }> => event.type === type),
    ranges: () => chain.calls.flatMap((call) => (call[0] === 'range' ? [[call[1], call[2]]] : [])),
    checkpoint: () => store.payments.checkpoint(chain.chainId),
    /** Steps until the head is reached. */
    async catchUp() {
      for (let steps = 0; !(await indexer.step()); steps += 1) if (steps > 1_000) throw new Error('no end')
    },
  }
}

/** Makes calls of one kind fail while `errors` lasts. */
export function failing(kind: ChainCall[0], errors: Error[]) {
  return (call: ChainCall) => {
    const error = call[0] === kind ? errors.shift() : undefined
    if (error) throw error
    return undefined
  }
}
