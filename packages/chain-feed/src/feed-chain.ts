/** Reads a chain from the feed, else from its nodes. Source: docs/decisions/chain-feed.md. @module */
import { ChainError, silentLogger, systemClock } from '@payment-integration/core'
import { assertWhole, createMonotonicClock } from '@payment-integration/core/internal'
import type {
  BlockRange,
  BlockRef,
  Chain,
  Clock,
  Logger,
  NodeStatus,
  ProofLevel,
  RangesRequest,
} from '@payment-integration/core/ports'
import type { FeedDemands } from './feed-blocks.js'
import { chunkBlocks, findUnmetDemand, joinBlocks, readBlock, readBlocks, toFeedError } from './feed-blocks.js'
import type { FeedConnection } from './feed-connection.js'
import { parseBlock } from './feed-message.js'
import { createFeedStream } from './feed-stream.js'

/** Options of {@link createFeedChain}. */
export interface FeedChainOptions {
  /** The chain on its own nodes: it answers whatever the feed does not. */
  readonly chain: Chain
  /** The feed, from `createFeedConnection`; the caller closes it. */
  readonly connection: FeedConnection
  /** The weakest accepted proof; blocks with a weaker proof come from `chain`. @default 'bloom' */
  readonly minProof?: ProofLevel | undefined
  /** Bridge contracts of `chain`; blocks that were read with other contracts come from `chain`. @default none */
  readonly spokePools?: readonly string[] | undefined
  /** Largest age at which the feed's newest block counts as head, in milliseconds by this clock. @default 60000 */
  readonly maxHeadAgeMs?: number | undefined
  /** Pause before the next request to a feed that failed or contradicted a node, in milliseconds. @default 5000 */
  readonly restMs?: number | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
  /** @default none */
  readonly logger?: Logger | undefined
}

/**
 * If the feed's newest block is older than the last head of the nodes by more than this, the head comes from the nodes.
 * In milliseconds of block time.
 */
const maxLagMs = 5_000

/**
 * Creates a chain that reads proven blocks from the feed. Guarantees: every block from the feed continues the one
 * before it. The publisher read it for this chain's routers, with its bridge contracts, and with `minProof` or a
 * stronger proof. Its values were checked like those of any adapter. A missing, malformed or interrupted part comes
 * from the nodes. The head comes from the nodes while the feed is old, unreachable, or more than 5 s behind their last
 * head. Otherwise it comes from the feed. Such a head may be lower than the last one; the reader then waits until the
 * feed has caught up. Fates of transactions always come from the nodes.
 * @throws RangeError When an option is out of range. Methods reject as those of the given chain:
 * `ERR_CHAIN_UNAVAILABLE`, `ERR_CHAIN_RANGE_GONE`, `ERR_CHAIN_PROOF_FAILED`.
 * @example
 * import { createEvmChain, knownRouters } from '@payment-integration/chain-evm'
 * import { createFeedChain, createFeedConnection } from '@payment-integration/chain-feed'
 * const nodes = createEvmChain({ chainId: 8453, rpcUrl: 'https://node.example', routers: knownRouters(8453) })
 * const connection = createFeedConnection({ servers: ['nats://feed.example:4222'] })
 * const chain = createFeedChain({ chain: nodes, connection })
 */
export function createFeedChain(options: FeedChainOptions): Chain {
  const { chain, connection, clock = systemClock, logger = silentLogger } = options
  const { minProof = 'bloom', maxHeadAgeMs = 60_000, restMs = 5_000 } = options
  assertWhole('maxHeadAgeMs', maxHeadAgeMs, 1)
  assertWhole('restMs', restMs, 1)
  if (!['root', 'bloom', 'none'].includes(minProof))
    throw new RangeError(`minProof is ${JSON.stringify(minProof)}; pass one of "root", "bloom" and "none".`)
  const spokePools = new Set(options.spokePools?.map((pool) => pool.toLowerCase()))
  const demands = (routers: readonly string[]) => ({ routers: new Set(routers), spokePools, minProof })
  const { chainId } = chain
  const stream = createFeedStream(connection, chainId, clock)

  /** The feed's newest block while it serves as the head; null while the nodes give the head. */
  let feedHead: BlockRef | null = null
  /** The last head of the nodes. A feed far below it gives no head: the reader would wait until the feed caught up. */
  let nodeHead: BlockRef | null = null
  const monotonicClock = createMonotonicClock(clock)
  let restUntil = Number.NEGATIVE_INFINITY
  let failures = 0
  let lastError: string | null = null
  let topHeight: number | null = null
  let isLogged = false

  function setFeedHead(next: BlockRef | null, reason: string | null): void {
    const isChange = (next === null) !== (feedHead === null) || !isLogged
    feedHead = next
    if (reason !== null) lastError = reason
    if (!isChange) return
    isLogged = true
    if (next === null) logger.warn({ chainId, reason }, 'reads its nodes instead of the feed')
    else logger.info({ chainId, blockNumber: next.number }, 'reads the feed')
  }

  /** Records a failure, and returns its reason. A feed that did not answer gets no request for `restMs`. */
  function recordFailure(thrown: unknown): string {
    const error = toFeedError(thrown)
    failures += 1
    lastError = error.message
    if (error.code === 'ERR_FEED_UNAVAILABLE') restUntil = monotonicClock.now() + restMs
    return lastError
  }

  /** The newest block of the feed, or the reason why it cannot be the head. */
  async function readHead(): Promise<BlockRef | string> {
    if (monotonicClock.now() < restUntil) return lastError ?? 'The feed did not answer.'
    try {
      const message = await stream.last()
      if (message === null) return 'The feed is empty.'
      const feedBlock = parseBlock(chainId, message.data)
      const { block } = feedBlock
      topHeight = block.number
      const unmet = findUnmetDemand(feedBlock, demands(chain.routers))
      if (unmet !== null) return unmet.message
      const ageMs = clock.now() - block.timestamp
      if (ageMs > maxHeadAgeMs)
        return `Block ${block.number}, the feed's newest, is ${Math.round(ageMs / 1_000)} s old.`
      if (nodeHead !== null && block.number < nodeHead.number && nodeHead.timestamp - block.timestamp > maxLagMs)
        return `Block ${block.number}, the feed's newest, is far below ${nodeHead.number}, a node's newest.`
      return block
    } catch (error) {
      return recordFailure(error)
    }
  }

  /**
   * Yields blocks of the feed. Blocks below the feed's oldest one come from the nodes. So do all blocks from the first
   * problem of the feed on.
   */
  async function* ranges(request: RangesRequest, signal?: AbortSignal): AsyncGenerator<BlockRange> {
    const { from, to, routers = chain.routers } = request
    const requestDemands = demands(routers)
    let last: BlockRef | null = null
    const nextHeight = () => (last === null ? from : last.number + 1)
    /** Passes ranges on, and rejects one that does not continue the range before it. */
    async function* checkContinuity(part: AsyncIterable<BlockRange>): AsyncGenerator<BlockRange> {
      for await (const range of part) {
        assertContinues(last, range)
        last = range.last
        yield range
      }
    }
    const isResting = () => monotonicClock.now() < restUntil
    if (!isResting()) yield* checkContinuity(readFeed(from, to, requestDemands, signal))
    // Checked again, because `readFeed` may have found that the feed does not answer.
    const oldest = isResting() || nextHeight() > from ? null : await findOldestHeight()
    if (oldest !== null && oldest > from && oldest <= to) {
      yield* checkContinuity(chain.ranges({ ...request, to: oldest - 1 }, signal))
      yield* checkContinuity(readFeed(oldest, to, requestDemands, signal))
    }
    if (nextHeight() <= to) yield* checkContinuity(chain.ranges({ ...request, from: nextHeight() }, signal))
  }

  async function* readFeed(
    from: number,
    to: number,
    requestDemands: FeedDemands,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<BlockRange> {
    for await (const { blocks, problem } of readBlocks(stream, { from, to, demands: requestDemands })) {
      signal?.throwIfAborted()
      yield* joinBlocks(blocks, requestDemands.routers)
      if (problem === null) continue
      logger.debug({ chainId, from, to, reason: recordFailure(problem) }, 'reads blocks from its nodes')
    }
  }

  /** Height of the oldest message, or null. */
  async function findOldestHeight(): Promise<number | null> {
    try {
      const oldest = await stream.first()
      return oldest === null ? null : parseBlock(chainId, oldest.data).block.number
    } catch (error) {
      recordFailure(error)
      return null
    }
  }

  function assertContinues(last: BlockRef | null, { first }: BlockRange): void {
    if (last === null || first.parentHash === last.hash) return
    failures += 1
    lastError = `Block ${first.number} of chain ${chainId} does not continue block ${last.number}, between the feed and a node.`
    // During the pause the nodes serve the rollback and the next read. The feed may end on an orphaned block, and
    // would return it again.
    restUntil = monotonicClock.now() + restMs
    throw new ChainError('ERR_CHAIN_RANGE_GONE', chainId, lastError)
  }

  return {
    chainId,
    adapter: `chain-feed on ${chain.adapter ?? 'a chain without a name'}`,
    get routers() {
      return chain.routers
    },
    async head(signal) {
      signal?.throwIfAborted()
      const headOrReason = await readHead()
      if (typeof headOrReason !== 'string') {
        setFeedHead(headOrReason, null)
        return headOrReason
      }
      setFeedHead(null, headOrReason)
      nodeHead = await chain.head(signal)
      return nodeHead
    },
    async block(number, signal) {
      if (feedHead !== null && number <= feedHead.number && monotonicClock.now() >= restUntil) {
        try {
          const feedBlock = await readBlock(stream, number)
          if (feedBlock !== null) return feedBlock.block
        } catch (error) {
          recordFailure(error)
        }
      }
      return chain.block(number, signal)
    },
    ranges,
    watch: (wake, signal) => stream.watch(wake, signal),
    transactionFate: (txHash, signal) => chain.transactionFate(txHash, signal),
    nativeHash: (txHash) => chain.nativeHash?.(txHash) ?? null,
    nodes() {
      const inUse = feedHead !== null
      const feed = { name: 'feed', score: inUse ? 1 : 0, inUse, head: topHeight, latencyMs: null, failures, lastError }
      // The feed is no node: nobody bills its calls.
      const unused = { contradictions: 0, failedProofs: 0, calls: 0, receivedBytes: 0, blocks: 0 }
      const feedStatus: NodeStatus = { ...feed, ...unused, maxRange: chunkBlocks }
      return [feedStatus, ...chain.nodes().map((each) => (inUse ? { ...each, inUse: false } : each))]
    },
  }
}
