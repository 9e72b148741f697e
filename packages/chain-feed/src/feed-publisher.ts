/** Reads a chain and publishes its proven blocks. Source: docs/decisions/chain-feed.md. @module */
import { ChainError, silentLogger, systemClock, systemRandom } from '@payment-integration/core'
import { assertWhole, getHeadPollMs } from '@payment-integration/core/internal'
import type { BlockRange, BlockRef, Chain, Clock, Logger, RandomSource } from '@payment-integration/core/ports'
import { readBlock } from './feed-blocks.js'
import { type FeedConnection, FeedError } from './feed-connection.js'
import { formatBlock, parseBlock } from './feed-message.js'
import { createFeedStream } from './feed-stream.js'

/** Options of {@link createFeedPublisher}. */
export interface FeedPublisherOptions {
  /** The chain on its nodes, read with the proof `root` or `bloom`. */
  readonly chain: Chain
  /** The feed, from `createFeedConnection`; the caller closes it. */
  readonly connection: FeedConnection
  /** Bridge contracts whose deposits `chain` trusts. @default none */
  readonly spokePools?: readonly string[] | undefined
  /** Copies of the stream, on different servers. @default 3 */
  readonly replicas?: number | undefined
  /** Age at which a block leaves the feed, in milliseconds. @default 604800000, a week */
  readonly maxAgeMs?: number | undefined
  /** Size at which the oldest blocks leave the feed, in bytes. @default 1073741824 */
  readonly maxBytes?: number | undefined
  /** How many blocks below the head an empty feed begins. @default 256 */
  readonly startDepth?: number | undefined
  /** Longest wait between two reads of the head, in milliseconds. @default 1000 */
  readonly pollMs?: number | undefined
  /** Silence of another publisher after which this one takes over, in milliseconds. @default 30000 */
  readonly standbyMs?: number | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
  /** Source of the random id of this publisher. @default the system's */
  readonly random?: Pick<RandomSource, 'bytes'> | undefined
  /** @default none */
  readonly logger?: Logger | undefined
}

/** Publishes one chain. */
export interface FeedPublisher {
  readonly chainId: number
  /**
   * One step: publishes the new blocks, up to the head.
   * @returns Whether nothing is left to do now: at the head, or another publisher leads.
   * @throws FeedError with each code but `ERR_FEED_GAP`; ChainError of the chain. Appended blocks stay, and the next
   * step continues after them.
   */
  step(signal?: AbortSignal): Promise<boolean>
  /** Creates the stream and publishes until the signal aborts. It never rejects: it retries after up to 30 s. */
  run(signal: AbortSignal): Promise<void>
}

/** The largest expected difference between this clock and the server's, in milliseconds. */
const skewMs = 5 * 60_000
/** The most appends without an acknowledgement at a time. */
const maxInFlight = 64
/** Wait after the first failure in a row, and the longest one, in milliseconds. */
const [firstRetryMs, maxRetryMs] = [250, 30_000]

/** The end of the stream, as this publisher knows it. */
interface StreamEnd {
  sequence: number
  block: BlockRef | null
}

/**
 * Creates a publisher, which appends a chain's proven blocks to the feed. Guarantees: a block is appended only on top
 * of its parent, and only if the stream still ends where this publisher read its end. Two publishers never mix their
 * blocks: the second append is rejected. After a rejection a publisher stands by until the other one is silent for
 * `standbyMs`. A reorg is published as the new blocks above the common ancestor; each replaces the former block of its
 * height.
 * @throws RangeError When an option is out of range.
 * @example
 * import { createEvmChain, knownRouters } from '@payment-integration/chain-evm'
 * import { createFeedConnection, createFeedPublisher } from '@payment-integration/chain-feed'
 * const chain = createEvmChain({ chainId: 8453, rpcUrl: 'https://node.example', routers: knownRouters(8453) })
 * const connection = createFeedConnection({ servers: ['nats://feed.example:4222'] })
 * await createFeedPublisher({ chain, connection }).run(new AbortController().signal)
 */
export function createFeedPublisher(options: FeedPublisherOptions): FeedPublisher {
  const { chain, connection, clock = systemClock, random = systemRandom, logger = silentLogger } = options
  const { replicas = 3, maxAgeMs = 7 * 86_400_000, maxBytes = 1_073_741_824 } = options
  const { startDepth = 256, pollMs = 1_000, standbyMs = 30_000 } = options
  for (const [name, value] of Object.entries({ replicas, maxAgeMs, maxBytes, pollMs, standbyMs }))
    assertWhole(name, value, 1)
  assertWhole('startDepth', startDepth, 0)
  const spokePools = (options.spokePools ?? []).map((pool) => pool.toLowerCase())
  const { chainId } = chain
  const stream = createFeedStream(connection, chainId, clock)
  const publisher = Buffer.from(random.bytes(16)).toString('hex')
  /** Null: not read yet, or unknown after an error. */
  let knownEnd: StreamEnd | null = null
  let isLeading: boolean | null = null
  let isPrepared = false
  let appends = 0

  /** The end of the stream, or null while another publisher leads. */
  async function findStreamEnd(): Promise<StreamEnd | null> {
    if (knownEnd !== null) return knownEnd
    const { sequence, message } = await stream.tail()
    const isOtherPublisher = message !== null && message.publisher !== publisher
    const silentMs = isOtherPublisher ? clock.now() - message.storedAt : 0
    // A time far in the future comes from a server whose clock was ahead. It does not show when the other publisher was
    // last active, so this one may lead.
    const mayLead = !isOtherPublisher || silentMs >= standbyMs || silentMs < -skewMs
    if (mayLead !== isLeading) logger.info({ chainId, leading: mayLead }, mayLead ? 'publishes' : 'stands by')
    isLeading = mayLead
    if (!mayLead) return null
    knownEnd = { sequence, block: message === null ? null : parseBlock(chainId, message.data).block }
    return knownEnd
  }

  async function step(signal?: AbortSignal): Promise<boolean> {
    try {
      const end = await findStreamEnd()
      if (end === null) return true
      const { number, hash } = await chain.head(signal)
      const { block } = end
      // A lower head comes from a node that lags. A reorg is published once the head is as high as the stream.
      if (block !== null && (number < block.number || hash === block.hash)) return true
      const isAbove = block === null || number > block.number
      if (!isAbove || !(await publish(end, number, signal))) await reorganize(end, number, signal)
      return false
    } catch (error) {
      // The outcome of appends may be unknown, or another publisher was faster, so the next step reads the end of the
      // stream again.
      knownEnd = null
      throw error
    }
  }

  /** Publishes the blocks above `end`, up to `to`. @returns False when they do not continue `end`. */
  async function publish(end: StreamEnd, to: number, signal?: AbortSignal): Promise<boolean> {
    const from = end.block === null ? Math.max(0, to - startDepth) : end.block.number + 1
    for await (const range of chain.ranges({ from, to, head: to }, signal)) {
      signal?.throwIfAborted()
      if (range.proof === 'none')
        throw new FeedError(
          'ERR_FEED_UNPROVEN',
          `Chain ${chainId} is read with the proof none, and the feed carries only proven blocks. Let each cell read its nodes.`,
        )
      if (end.block !== null && range.first.parentHash !== end.block.hash) return false
      await append(end, range)
    }
    return true
  }

  async function reorganize(end: StreamEnd, to: number, signal?: AbortSignal): Promise<void> {
    const from = end.block?.number ?? 0
    const ancestor = await findAncestor(from, signal)
    logger.warn({ chainId, from, commonAncestor: ancestor.number }, 'chain reorganized')
    end.block = ancestor
    if (await publish(end, to, signal)) return
    throw new ChainError('ERR_CHAIN_RANGE_GONE', chainId, `Chain ${chainId} was reorganized again during the read.`)
  }

  async function findAncestor(orphanedHeight: number, signal?: AbortSignal): Promise<BlockRef> {
    for (let number = orphanedHeight - 1; ; number -= 1) {
      const published = number < 0 ? null : await readBlock(stream, number)
      if (published === null)
        throw new FeedError(
          'ERR_FEED_DIVERGED',
          `No block of the feed of chain ${chainId} is on the chain. Check the nodes; then delete the stream PI_CHAIN_FEED_${chainId}.`,
        )
      const block = await chain.block(number, signal)
      if (block === null)
        throw new ChainError('ERR_CHAIN_UNAVAILABLE', chainId, `The node has no block ${number} below its own head.`)
      if (block.hash === published.block.hash) return published.block
    }
  }

  async function append(end: StreamEnd, { blocks, payments, deposits, proof, node }: BlockRange): Promise<void> {
    const inFlight: Promise<unknown>[] = []
    let expected = end.sequence
    let previousId: string | null = null
    for (const block of blocks) {
      const contents = {
        payments: payments.filter(({ blockNumber }) => blockNumber === block.number),
        deposits: deposits.filter(({ payment }) => payment.blockNumber === block.number),
      }
      const data = formatBlock(chainId, { block, ...contents, proof, node, routers: chain.routers, spokePools })
      if (inFlight.length >= maxInFlight) await inFlight.shift()
      appends += 1
      const id = `${publisher}-${appends}`
      const appended = stream.append({ height: block.number, data, publisher, id }, { sequence: expected, previousId })
      previousId = id
      // The awaits of `inFlight` report the first failure. That failure causes the later ones, which are ignored.
      appended.catch(() => undefined)
      inFlight.push(appended)
      expected += 1
    }
    await Promise.all(inFlight)
    end.sequence = expected
    end.block = blocks.at(-1) ?? end.block
  }

  async function run(signal: AbortSignal): Promise<void> {
    let wake = new AbortController()
    const endSleep = () => wake.abort()
    signal.addEventListener('abort', endSleep, { once: true })
    const watching = chain.watch(endSleep, signal).catch(() => undefined)
    let failures = 0
    while (!signal.aborted) {
      try {
        if (!isPrepared) await stream.prepare({ replicas, maxAgeMs, maxBytes })
        isPrepared = true
        const isIdle = await step(signal)
        failures = 0
        if (isIdle) await clock.sleep(getHeadPollMs(chain, pollMs), wake.signal)
        if (wake.signal.aborted) wake = new AbortController()
      } catch (error) {
        if (signal.aborted) break
        isPrepared = false
        const isMoved = error instanceof FeedError && error.code === 'ERR_FEED_MOVED'
        failures += 1
        const retryInMs = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 20))
        const message = error instanceof Error ? error.message : 'unknown reason'
        logger[isMoved ? 'info' : 'warn']({ chainId, error: message, failures, retryInMs }, 'not published')
        await clock.sleep(retryInMs, signal)
      }
    }
    await watching
  }

  return { chainId, step, run }
}
