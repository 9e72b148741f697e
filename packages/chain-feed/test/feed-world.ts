/** A chain in memory, a publisher that a test steps, and readers that count what they ask their nodes. @module */
import { systemClock } from '@payment-integration/core'
import type { Chain } from '@payment-integration/core/ports'
import { createDraws } from '../../testing/src/builders.js'
import { buildPayment, createTwinChain } from '../../testing/src/twin/chain.js'
import { createFeedChain, type FeedChainOptions } from '../src/feed-chain.js'
import { createFeedConnection } from '../src/feed-connection.js'
import { createFeedPublisher, type FeedPublisherOptions } from '../src/feed-publisher.js'
import { createFeedStream } from '../src/feed-stream.js'
import type { TestCluster } from './nats-server.js'

/** A clock that a test moves; it never waits, and starts at the present, as the servers' clocks do. */
function createTestClock() {
  let offset = 0
  const advance = (ms: number) => {
    offset += ms
  }
  return { now: () => Date.now() + offset, sleep: () => Promise.resolve(), advance }
}

/** Calls of a chain, by method. */
export interface Calls {
  head: number
  block: number
  /** Requested ranges, as `from-to`. */
  readonly ranges: string[]
}

/** A chain that counts its calls. */
export function counted(chain: Chain): { readonly chain: Chain; readonly calls: Calls } {
  const calls: Calls = { head: 0, block: 0, ranges: [] }
  return {
    calls,
    chain: {
      ...chain,
      head(signal) {
        calls.head += 1
        return chain.head(signal)
      },
      block(number, signal) {
        calls.block += 1
        return chain.block(number, signal)
      },
      ranges(request, signal) {
        calls.ranges.push(`${request.from}-${request.to}`)
        return chain.ranges(request, signal)
      },
    },
  }
}

let chainIds = 137

/**
 * Opens everything on given servers, and publishes one block for each count of payments. Each world has a chain id, and
 * so a stream, of its own.
 */
export async function openFeedOn(nats: Pick<TestCluster, 'urls'>, ...payments: readonly number[]) {
  const chainId = chainIds
  chainIds += 1
  const clock = createTestClock()
  const draws = createDraws(chainId)
  const twin = createTwinChain(chainId, { clock, newHash: () => draws.hex(32), stepMs: 0 })
  const connection = createFeedConnection({ servers: nats.urls })
  await connection.ready(AbortSignal.timeout(60_000))
  const stream = createFeedStream(connection, chainId, systemClock)
  const openPublisher = (options: Partial<FeedPublisherOptions> = {}) =>
    createFeedPublisher({ chain: twin, connection, clock, replicas: 1, maxBytes: 10_000_000, ...options })
  const publisher = openPublisher()
  await stream.prepare({ replicas: 1, maxAgeMs: 86_400_000, maxBytes: 10_000_000 })
  const mine = (...counts: readonly number[]) => {
    for (const count of counts)
      twin.mine(Array.from({ length: count }, () => buildPayment({ chainId, integrationAddress: null }, draws)))
  }
  /** Steps the publisher up to the head. */
  const publish = async () => {
    while (!(await publisher.step()));
  }
  mine(...payments)
  if (payments.length > 0) await publish()
  return {
    chainId,
    clock,
    twin,
    stream,
    publisher,
    openPublisher,
    mine,
    publish,
    openReader(options: Partial<FeedChainOptions> = {}) {
      const nodes = counted(options.chain ?? twin)
      return { chain: createFeedChain({ connection, clock, ...options, chain: nodes.chain }), calls: nodes.calls }
    },
    /** Appends a message of another publisher at the end of the stream. */
    async append(height: number, data: Uint8Array = new Uint8Array()) {
      const { sequence } = await stream.tail()
      await stream.append({ height, data, publisher: 'b', id: String(sequence) }, { sequence, previousId: null })
    },
    close: () => connection.close(),
  }
}

export type FeedWorld = Awaited<ReturnType<typeof openFeedOn>>
