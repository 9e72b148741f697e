/** Learns how many blocks a range takes, and how many ranges are read in parallel. @module */
import { createRangeSize } from '../rpc/node-limits.js'

/** `root`: the receipts of all blocks are proven. `bloom`: those of candidates, or none at proof level `none`. */
export type RangeKind = 'root' | 'bloom'

/** How a `bloom` range is read. */
export interface BloomPlan {
  /** The blocks that are read with their transactions. */
  readonly withTransactions: 'none' | 'candidates' | 'all'
  /** Mean over the last range's candidates, at least 1. */
  readonly transactionsPerBlock: number
}

export interface RangeResult {
  readonly node: string
  readonly requested: number
  /** Fewer than `requested` if the limit of transactions, or the node's limit of blocks, was reached. */
  readonly returned: number
  /** Transactions divided by their limit; above 1 if exceeded. */
  readonly fillFraction: number
  /**
   * `candidates`: blocks whose receipts are proven. `wholeBlocks`: those among them that are cheaper to read whole
   * than payment by payment.
   */
  readonly candidates: number
  readonly wholeBlocks: number
  /** All transactions of the candidates; at proof level `none`, the payments of the range. */
  readonly transactions: number
  /** Since the node was opened: bytes of answers (0 if not counted), and requests rejected by its rate limit. */
  readonly receivedBytes: number
  readonly rejectedRequests: number
}

export type RangeSizing = ReturnType<typeof createRangeSizing>

const sizes = { root: { start: 16, max: 16 }, bloom: { start: 64, max: 1_000, step: 64 } } as const
/** For a wire that does not count bytes. */
const uncountedParallelRanges = 3
const maxParallelRanges = 8
const minParallelRanges = 2
/** Bytes of answers that may be read ahead; the facts take about twice as much memory. */
const maxBytesAhead = 25_165_824
/** The weight of the newest range in the average. */
const newestWeight = 0.5
/** A range that is fuller than this does not raise `fittingBlocks`. */
const fullFraction = 0.5
const growth = 2
/** Ranges that are read alone after a failure, because parallel requests may have caused it. */
const rangesReadAlone = 8
/** From this fraction of whole blocks on, blocks are read with their transactions. */
const wholeBlockFraction = 0.75

const firstPlan: BloomPlan = { withTransactions: 'none', transactionsPerBlock: 1 }

/** The first range is read alone, because its result sizes the others. */
export function createRangeSizing() {
  const learned = { root: createRangeSize(sizes.root), bloom: createRangeSize(sizes.bloom) }
  /** How many blocks contain a range's maximum of transactions. */
  let fittingBlocks: number = sizes.bloom.max
  let plan = firstPlan
  const limits = new Map<string, ParallelLimit>()
  /** The limit of the node that was read last. */
  let current: ParallelLimit = createParallelLimit()

  /** Returns the limit of the node that was just read, which from now on is the current one. */
  function selectLimit(node: string): ParallelLimit {
    current = limits.get(node) ?? createParallelLimit()
    limits.set(node, current)
    return current
  }

  return {
    maxBlocks: (kind: RangeKind) =>
      kind === 'root' ? learned.root.current() : Math.min(fittingBlocks, learned.bloom.current()),
    /** How many ranges may be read, or wait to be consumed, at the same time. */
    parallelRanges: () => current.parallelRanges(),
    plan: () => plan,
    noteResult(kind: RangeKind, range: RangeResult): void {
      const { requested, returned, fillFraction } = range
      selectLimit(range.node).noteResult(range)
      learned[kind].noteSuccess(returned)
      if (kind === 'root') {
        if (range.wholeBlocks < returned * wholeBlockFraction) plan = firstPlan
        return
      }
      const isFull = fillFraction > fullFraction
      if (returned < requested) fittingBlocks = Math.max(1, returned)
      else if (!isFull && requested >= fittingBlocks) fittingBlocks = Math.min(sizes.bloom.max, fittingBlocks * growth)
      plan = makePlan(range)
    },
    noteFailure(kind: RangeKind, requested: number, node: string): void {
      selectLimit(node).slowDown()
      learned[kind].noteFailure(requested)
    },
    noteRateLimit(node: string): void {
      selectLimit(node).slowDown()
    },
  }
}

function makePlan({ returned, candidates, wholeBlocks, transactions }: RangeResult): BloomPlan {
  const withTransactions =
    wholeBlocks >= returned * wholeBlockFraction
      ? 'all'
      : wholeBlocks > 0 && wholeBlocks >= candidates * wholeBlockFraction
        ? 'candidates'
        : 'none'
  return { withTransactions, transactionsPerBlock: Math.max(1, transactions / Math.max(1, candidates)) }
}

type ParallelLimit = ReturnType<typeof createParallelLimit>

/** Learns how many ranges may be read from one node in parallel. */
function createParallelLimit() {
  let rangesSinceFailure = rangesReadAlone
  /** The node's counts at the last range. */
  let lastCounts = { receivedBytes: 0, rejectedRequests: 0 }
  /** How many parallel ranges cause no rejection. */
  let acceptedRanges: number = maxParallelRanges
  /** The average bytes of a range; null before the first. */
  let bytesPerRange: number | null = null
  return {
    parallelRanges(): number {
      if (bytesPerRange === null || rangesSinceFailure < rangesReadAlone) return 1
      const fitting =
        bytesPerRange === 0
          ? uncountedParallelRanges
          : Math.max(minParallelRanges, Math.floor(maxBytesAhead / bytesPerRange))
      return Math.min(acceptedRanges, fitting)
    },
    noteResult({ receivedBytes, rejectedRequests }: RangeResult): void {
      rangesSinceFailure += 1
      acceptedRanges =
        rejectedRequests > lastCounts.rejectedRequests
          ? Math.max(1, Math.floor(acceptedRanges / 2))
          : Math.min(maxParallelRanges, acceptedRanges + 1)
      const bytes = Math.max(0, receivedBytes - lastCounts.receivedBytes)
      bytesPerRange = bytesPerRange === null ? bytes : bytesPerRange + newestWeight * (bytes - bytesPerRange)
      lastCounts = { receivedBytes, rejectedRequests }
    },
    slowDown(): void {
      rangesSinceFailure = 0
    },
  }
}
