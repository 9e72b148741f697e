import { ChainError } from '../../src/errors.js'
import type { ServiceEvent } from '../../src/events.js'
import type { LeaseStore } from '../../src/indexer/chain-store.js'
import { createIndexer, type IndexerOptions } from '../../src/indexer/indexer.js'
import { type ChainCall, type FakeChain, fakeChain, type PaymentsAt } from './fake-chain.js'
import { type ManualClock, manualClock } from './manual-clock.js'
import { recordingLogger } from './recording-logger.js'
import { openStore, type TestStore } from './store.js'

export const down = () => new ChainError('ERR_CHAIN_UNAVAILABLE', 1, 'no answer from the node')
/** One payment per block, named by its height. */
export const paymentAt = (height: number) => [`payment at ${height}`]

/** Grants the lease to every indexer, so that they race for the checkpoint. */
const noLeases: LeaseStore = { acquire: async () => true, release: async () => undefined, list: async () => [] }

/** Time between two renewals of the default lease, in milliseconds. */
const renewMs = 5_000

/** The parts that indexers of one chain share. */
export interface IndexerParts {
  readonly chain: FakeChain
  readonly store: TestStore
  readonly clock?: ManualClock
  /** @default every indexer gets the lease */
  readonly leases?: LeaseStore
}

let indexers = 0

/**
 * An indexer on a chain and a store in memory. A second one on the same parts is a restart.
 * @param options - Its options, and the length of the chain's ranges.
 */
export function setUpIndexer(
  { maxRange, ...options }: Partial<IndexerOptions> & { readonly maxRange?: number } = {},
  parts: IndexerParts = { chain: fakeChain(), store: openStore() },
) {
  const { chain, store, clock = manualClock(), leases = noLeases } = parts
  if (maxRange !== undefined) chain.maxRange = maxRange
  const events: ServiceEvent[] = []
  const logger = recordingLogger()
  indexers += 1
  // A prototype, so that a method that a test replaces in the store is replaced here too.
  const storeWithLeases: TestStore = Object.create(store, { leases: { value: leases } })
  const indexer = createIndexer({
    store: storeWithLeases,
    chain,
    clock,
    random: { fraction: () => 1 },
    holder: `indexer ${indexers}`,
    publish: (event) => events.push(event),
    logger,
    ...{ startBlock: 0, finalityBlocks: null, ...options },
  })
  const ranges = (backfill: boolean) =>
    chain.calls.flatMap((call) => (call[0] === 'range' && call.length > 3 === backfill ? `${call[1]}-${call[2]}` : []))
  return {
    ...{ chain, store, clock, leases, events, logger, indexer },
    ofType: <T extends ServiceEvent['type']>(type: T) =>
      events.filter((event): event is Extract<ServiceEvent, { type: T }> => event.type === type),
    /** The ranges read for all routers, and for an added one, such as `1-4`. */
    ranges: () => ranges(false),
    backfills: () => ranges(true),
    failures: () => logger.lines.filter(({ level }) => level === 'warn' || level === 'error'),
    checkpoint: () => store.payments.checkpoint(chain.chainId),
    /** Every wait on this clock except those between two renewals of a lease, in milliseconds. */
    waits: () => clock.slept.filter((ms) => ms !== renewMs),
    /** Steps until the head is reached. */
    async catchUp() {
      for (let steps = 0; !(await indexer.step()); steps += 1)
        if (steps > 1_000) throw new Error('The indexer does not reach the head.')
    },
  }
}

/** An indexer at the head of a chain of so many blocks. */
export async function setUpIndexed(
  height: number,
  options: Parameters<typeof setUpIndexer>[0] = {},
  paymentsAt: PaymentsAt = () => [],
) {
  const setup = setUpIndexer(options)
  setup.chain.mine(height, paymentsAt)
  await setup.catchUp()
  return setup
}

/** Makes calls of one kind fail while `errors` lasts. */
export function failing(kind: ChainCall[0], errors: Error[]) {
  return (call: ChainCall) => {
    const error = call[0] === kind ? errors.shift() : undefined
    if (error) throw error
    return undefined
  }
}
