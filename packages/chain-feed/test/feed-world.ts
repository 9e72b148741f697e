/** A chain in memory, a publisher that a test steps, and readers that count what they ask their nodes. @module */
import { randomBytes } from 'node:crypto'
import type { Chain, Clock } from '@payment-integration/core/ports'
import { createDraws } from '../../testing/src/builders.js'
import { buildPayment, createTwinChain } from '../../testing/src/twin/chain.js'
import { createFeedChain, type FeedChainOptions } from '../src/feed-chain.js'
import { createFeedConnection, type FeedConnection } from '../src/feed-connection.js'
import { createFeedPublisher, type FeedPublisherOptions } from '../src/feed-publisher.js'
import { createFeedStream } from '../src/feed-stream.js'
import { startNats, type TestCluster } from './nats-server.js'

/** A clock that a test moves; it never waits. */
export interface TestClock extends Clock {
  advance(ms: number): void
}

/** Starts at the present, as the servers' clocks do. */
export function createTestClock(): TestClock {
  let offset = 0
  return {
    now: () => Date.now() + offset,
    sleep: () => Promise.resolve(),
    advance(ms) {
      offset += ms
    },
  }
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

/** Opens everything on one server. Each world has a chain id, and so a stream, of its own. */
export async function openFeedWorld() {
  const nats = await startNats()
  return { ...(await openFeedOn(nats)), nats }
}

/** Opens everything on given servers. */
export async function openFeedOn(nats: Pick<TestCluster, 'urls'>) {
  const chainId = chainIds
  chainIds += 1
  const clock = createTestClock()
  const draws = createDraws(chainId)
  const twin = createTwinChain(chainId, { now: clock.now, newHash: () => draws.hex(32), stepMs: 0 })
  const connections: FeedConnection[] = []
  const connect = async () => {
    const connection = createFeedConnection({ servers: nats.urls })
    connections.push(connection)
    await connection.ready(AbortSignal.timeout(60_000))
    return connection
  }
  const connection = await connect()
  const stream = createFeedStream(connection, chainId)
  const openPublisher = (options: Partial<FeedPublisherOptions> = {}) =>
    createFeedPublisher({ chain: twin, connection, clock, replicas: 1, maxBytes: 10_000_000, ...options })
  const publisher = openPublisher()
  await stream.prepare({ replicas: 1, maxAgeMs: 86_400_000, maxBytes: 10_000_000 })
  return {
    chainId,
    clock,
    twin,
    connect,
    connection,
    stream,
    publisher,
    openPublisher,
    /** Steps the publisher up to the head. */
    async publish() {
      while (!(await publisher.step()));
    },
    mine(...payments: readonly number[]) {
      for (const count of payments)
        twin.mine(Array.from({ length: count }, () => buildPayment({ chainId, integrationAddress: null }, draws)))
    },
    openReader(options: Partial<FeedChainOptions> = {}) {
      const nodes = counted(options.chain ?? twin)
      return { chain: createFeedChain({ connection, clock, ...options, chain: nodes.chain }), calls: nodes.calls }
    },
    /** A name that no other publisher has. */
    stranger: () => randomBytes(4).toString('hex'),
    async close() {
      await Promise.all(connections.map((each) => each.close()))
    },
  }
}
