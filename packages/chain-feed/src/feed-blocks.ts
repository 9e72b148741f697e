/** Reads consecutive blocks of the feed, and joins them into ranges. @module */
import type { BlockRange, ProofLevel } from '@payment-integration/core/ports'
import { FeedError } from './feed-connection.js'
import { type FeedBlock, parseBlock } from './feed-message.js'
import type { FeedStream } from './feed-stream.js'

/** The payments and deposits after which a range ends, because the store commits a range in one transaction. */
const maxPayments = 500

/**
 * Joins consecutive blocks of the same proof and node.
 * @param routers - Only the payments of these routers are kept.
 */
export function joinBlocks(blocks: readonly FeedBlock[], routers: ReadonlySet<string>): BlockRange[] {
  const groups: FeedBlock[][] = []
  let payments = 0
  for (const block of blocks) {
    const group = groups.at(-1)
    const first = group?.[0]
    const isJoinable = first?.proof === block.proof && first.node === block.node && payments < maxPayments
    if (group !== undefined && isJoinable) group.push(block)
    else {
      groups.push([block])
      payments = 0
    }
    payments += block.payments.length + block.deposits.length
  }
  return groups.flatMap((group) => toRanges(group, routers))
}

function toRanges(group: readonly FeedBlock[], routers: ReadonlySet<string>): BlockRange[] {
  const [first, last] = [group[0], group.at(-1)]
  if (first === undefined || last === undefined) return []
  return [
    {
      first: first.block,
      last: last.block,
      blocks: group.map(({ block }) => block),
      payments: group.flatMap(({ payments }) => payments).filter(({ router }) => routers.has(router.address)),
      deposits: group.flatMap(({ deposits }) => deposits).filter(({ payment }) => routers.has(payment.router.address)),
      proof: first.proof,
      node: `feed of ${first.node}`,
    },
  ]
}

/** Blocks that are requested at a time. The next ones are requested while these are processed. */
export const chunkBlocks = 128

/** A reader's demands on how the publisher read a block. */
export interface FeedDemands {
  /** Routers whose payments the publisher must have read, lowercased. */
  readonly routers: ReadonlySet<string>
  /** Exactly the bridge contracts that the publisher must have trusted, lowercased. */
  readonly spokePools: ReadonlySet<string>
  readonly minProof: ProofLevel
}

/** A greater number is a stronger proof. */
const strength: Readonly<Record<ProofLevel, number>> = { none: 0, bloom: 1, root: 2 }

/** Blocks of consecutive heights. In the parts of {@link readBlocks} each block is on top of the one before it. */
interface BlocksPart {
  readonly blocks: readonly FeedBlock[]
  /** Why the blocks end before `to`, so that no part follows; else null. */
  readonly problem: FeedError | null
}

/**
 * Yields the requested blocks up to the first problem: a missing or malformed message, an unmet demand, a block that
 * does not continue the one before it, or no answer. It never rejects.
 */
export async function* readBlocks(
  stream: FeedStream,
  { from, to, demands }: { readonly from: number; readonly to: number; readonly demands: FeedDemands },
): AsyncGenerator<BlocksPart> {
  let next = from
  // Requested before the wait for the block below `from`, so that a silent server costs one wait.
  let ahead = readChunk(stream, next, to)
  // The block below `from` is read too, to check that the first block is on top of it.
  let parent = from === 0 ? null : await readBlock(stream, from - 1).catch(() => null)
  while (next <= to) {
    const { blocks, problem } = await ahead
    const part: FeedBlock[] = []
    let flaw: FeedError | null = null
    for (const block of blocks) {
      flaw = findFlaw(block, parent, demands)
      if (flaw !== null) break
      part.push(block)
      parent = block
    }
    flaw ??= problem
    next += part.length
    if (flaw === null && next <= to) ahead = readChunk(stream, next, to)
    if (part.length > 0 || flaw !== null) yield { blocks: part, problem: flaw }
    if (flaw !== null) return
  }
}

/** One block, or null when its height is not in the feed. @throws FeedError */
export async function readBlock(stream: FeedStream, height: number): Promise<FeedBlock | null> {
  const message = await stream.at(height)
  return message === null ? null : parseBlock(stream.chainId, message.data)
}

/** The blocks of a chunk up to the first one that cannot be read. */
async function readChunk(stream: FeedStream, from: number, to: number): Promise<BlocksPart> {
  const heights = Array.from({ length: Math.min(chunkBlocks, to - from + 1) }, (_, index) => from + index)
  const read = await Promise.allSettled(heights.map((height) => readBlock(stream, height)))
  const blocks: FeedBlock[] = []
  for (const [index, outcome] of read.entries()) {
    if (outcome.status === 'rejected') return { blocks, problem: toFeedError(outcome.reason) }
    const { value } = outcome
    if (value === null) return { blocks, problem: createGapError(`block ${from + index} is not in the feed`) }
    if (value.block.number !== from + index)
      return { blocks, problem: createGapError(`block ${value.block.number} is stored as block ${from + index}`) }
    blocks.push(value)
  }
  return { blocks, problem: null }
}

function findFlaw(feedBlock: FeedBlock, parent: FeedBlock | null, demands: FeedDemands): FeedError | null {
  const { block } = feedBlock
  if (parent !== null && block.parentHash !== parent.block.hash)
    return createGapError(`block ${block.number} does not continue block ${parent.block.number}`)
  return findUnmetDemand(feedBlock, demands)
}

/** Why a block may lack payments or deposits that the reader needs, or is proven too weakly; else null. */
export function findUnmetDemand(feedBlock: FeedBlock, demands: FeedDemands): FeedError | null {
  const { routers, spokePools, minProof } = demands
  const { block, proof } = feedBlock
  const publisherRouters = new Set(feedBlock.routers)
  for (const router of routers)
    if (!publisherRouters.has(router)) return createGapError(`its publisher does not read the router ${router}`)
  const publisherPools = new Set(feedBlock.spokePools)
  if (publisherPools.size !== spokePools.size || [...spokePools].some((pool) => !publisherPools.has(pool)))
    return createGapError('its publisher lists other SpokePools')
  if (strength[proof] < strength[minProof])
    return createGapError(`block ${block.number} has the proof ${proof}, and this reader demands ${minProof}`)
  return null
}

function createGapError(reason: string): FeedError {
  return new FeedError('ERR_FEED_GAP', `The feed has a gap: ${reason}.`)
}

/** Returns a FeedError unchanged; turns any other error, such as a TypeError, into `ERR_FEED_UNAVAILABLE`. */
export function toFeedError(error: unknown): FeedError {
  if (error instanceof FeedError) return error
  return new FeedError('ERR_FEED_UNAVAILABLE', 'The feed could not be read.', { cause: error })
}
