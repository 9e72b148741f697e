/** Chooses blocks per range and parallel ranges: many where payments are rare, few where they are dense. @module */
import { createRangeSize } from '../rpc/node-limits.js'

/** Whether the receipts of all blocks of a range are read, or of those alone that may hold a payment. */
export type RangeKind = 'root' | 'bloom'

/** Blocks that are read whole, with their transactions, along with their receipts. */
type WholeBlocks = 'none' | 'candidates' | 'all'

/** How a range far from the head is read. */
export interface BloomPlan {
  readonly withTransactions: WholeBlocks
  /** Transactions of a block, on average of the last range; at least 1. */
  readonly transactionsPerBlock: number
}

/** A range that was read. */
export interface RangeResult {
  /** The node that answered. */
  readonly node: string
  /** Blocks that were to be read. */
  readonly requested: number
  /** Blocks that it holds: fewer, when it would have held too much. */
  readonly returned: number
  /** Part of what it may hold. */
  readonly fillFraction: number
  /** Blocks whose log filter admits a payment, and those of them that mostly hold payments. */
  readonly candidates: number
  readonly paying: number
  /** Transactions in candidate blocks. */
  readonly transactions: number
  /** Bytes that the node has answered since it was opened; 0 when it does not count them. */
  readonly receivedBytes: number
  /** Requests that it has rejected since then because there were too many. */
  readonly rejectedRequests: number
}

/** Learns from range to range. */
export interface RangeSizing {
  maxBlocks(kind: RangeKind): number
  /** Ranges that are read at a time, and held until they are asked for. */
  parallelRanges(): number
  plan(): BloomPlan
  noteResult(kind: RangeKind, range: RangeResult): void
  /** A node brought no answer, or nonsense, for so many blocks. */
  noteFailure(kind: RangeKind, requested: number, node: string): void
  /** A node wanted fewer requests. */
  noteRateLimit(node: string): void
}

const sizes = { root: { start: 16, max: 16 }, bloom: { start: 64, max: 1_000, step: 64 } } as const
/** Ranges at a time where the bytes of an answer are not counted. */
const uncountedParallelRanges = 3
const maxParallelRanges = 8
const minParallelRanges = 2
/** Bytes of answers behind the ranges that are read ahead: their facts take about twice as much memory. */
const bytesAhead = 25_165_824
/** Part of the average that the newest range makes up. */
const newestWeight = 0.5
/** A range that is fuller is not made longer. */
const fullFraction = 0.5
const growth = 2
/** Ranges read one at a time after a failure, because parallel requests may be its cause. */
const rangesReadAlone = 8
/** From this part on, blocks count as mostly paying. */
const mostlyFraction = 0.75

const firstPlan: BloomPlan = { withTransactions: 'none', transactionsPerBlock: 1 }

/** Starts without having learnt anything. The first range is read alone, because it teaches the most. */
export function createRangeSizing(): RangeSizing {
  const learnt = { root: createRangeSize(sizes.root), bloom: createRangeSize(sizes.bloom) }
  /** Blocks that hold as much as a range may. */
  let fittingBlocks: number = sizes.bloom.max
  let plan = firstPlan
  const limits = new Map<string, ParallelLimit>()
  let current: ParallelLimit = createParallelLimit()

  function getLimit(node: string): ParallelLimit {
    current = limits.get(node) ?? createParallelLimit()
    limits.set(node, current)
    return current
  }

  return {
    maxBlocks: (kind) => (kind === 'root' ? learnt.root.current() : Math.min(fittingBlocks, learnt.bloom.current())),
    parallelRanges: () => current.parallelRanges(),
    plan: () => plan,
    noteResult(kind, range) {
      const { requested, returned, fillFraction: fill } = range
      getLimit(range.node).read(range)
      learnt[kind].noteSuccess(returned)
      if (kind === 'root') {
        if (range.paying < returned * mostlyFraction) plan = firstPlan
        return
      }
      const isFull = fill > fullFraction
      if (returned < requested) fittingBlocks = Math.max(1, returned)
      else if (!isFull && requested >= fittingBlocks) fittingBlocks = Math.min(sizes.bloom.max, fittingBlocks * growth)
      plan = makePlan(range)
    },
    noteFailure(kind, requested, node) {
      getLimit(node).slowDown()
      learnt[kind].noteFailure(requested)
    },
    noteRateLimit(node) {
      getLimit(node).slowDown()
    },
  }
}

function makePlan({ returned, candidates, paying, transactions }: RangeResult): BloomPlan {
  const whole =
    paying >= returned * mostlyFraction
      ? 'all'
      : paying > 0 && paying >= candidates * mostlyFraction
        ? 'candidates'
        : 'none'
  return { withTransactions: whole, transactionsPerBlock: Math.max(1, transactions / Math.max(1, candidates)) }
}

/** Ranges at a time from one node. */
interface ParallelLimit {
  parallelRanges(): number
  read(range: Pick<RangeResult, 'receivedBytes' | 'rejectedRequests'>): void
  slowDown(): void
}

function createParallelLimit(): ParallelLimit {
  let sinceFailure = rangesReadAlone
  /** The counts of the node when the last range was read. */
  let before = { receivedBytes: 0, rejectedRequests: 0 }
  /** As many as the node answers without rejecting any. */
  let acceptedRanges: number = maxParallelRanges
  /** Bytes behind a range, on average; null before the first. */
  let bytesPerRange: number | null = null
  return {
    parallelRanges() {
      if (bytesPerRange === null || sinceFailure < rangesReadAlone) return 1
      const fitting =
        bytesPerRange === 0
          ? uncountedParallelRanges
          : Math.max(minParallelRanges, Math.floor(bytesAhead / bytesPerRange))
      return Math.min(acceptedRanges, fitting)
    },
    read({ receivedBytes, rejectedRequests }) {
      sinceFailure += 1
      acceptedRanges =
        rejectedRequests > before.rejectedRequests
          ? Math.max(1, Math.floor(acceptedRanges / 2))
          : Math.min(maxParallelRanges, acceptedRanges + 1)
      const bytes = Math.max(0, receivedBytes - before.receivedBytes)
      bytesPerRange = bytesPerRange === null ? bytes : bytesPerRange + newestWeight * (bytes - bytesPerRange)
      before = { receivedBytes, rejectedRequests }
    },
    slowDown() {
      sinceFailure = 0
    },
  }
}
