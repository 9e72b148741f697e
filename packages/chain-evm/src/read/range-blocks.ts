/** Chooses blocks per range and parallel ranges: many where payments are rare, few where they are dense. @module */
import { createRangeSize } from '../rpc/node-limits.js'

/** Whether the receipts of all blocks of a range are read, or of those alone that may hold a payment. */
export type RangeKind = 'root' | 'bloom'

/** Blocks that are read whole, with their transactions, along with their receipts. */
type WholeBlocks = 'none' | 'candidates' | 'all'

/** How a range far from the head is read. */
export interface BloomPlan {
  readonly whole: WholeBlocks
  /** Transactions of a block, on average of the last range; at least 1. */
  readonly perBlock: number
}

/** A range that was read. */
export interface RangeRead {
  /** The node that answered. */
  readonly node: string
  /** Blocks that were to be read. */
  readonly asked: number
  /** Blocks that it holds: fewer, when it would have held too much. */
  readonly got: number
  /** Part of what it may hold. */
  readonly fill: number
  /** Blocks whose log filter admits a payment, and those of them that mostly hold payments. */
  readonly candidates: number
  readonly paying: number
  /** Transactions in candidate blocks. */
  readonly transactions: number
  /** Bytes that the node has answered since it was opened; 0 when it does not count them. */
  readonly received: number
  /** Requests that it has refused since then because there were too many. */
  readonly refused: number
}

/** Learns from range to range. */
export interface RangeBlocks {
  current(kind: RangeKind): number
  /** Ranges that are read at a time, and held until they are asked for. */
  atOnce(): number
  plan(): BloomPlan
  read(kind: RangeKind, range: RangeRead): void
  /** A node brought no answer, or nonsense, for so many blocks. */
  failed(kind: RangeKind, asked: number, node: string): void
  /** A node wanted fewer requests. */
  limited(node: string): void
}

const sizes = { root: { start: 16, max: 16 }, bloom: { start: 64, max: 1_000, step: 64 } } as const
/** Ranges at a time where the bytes of an answer are not counted. */
const uncountedAtOnce = 3
const mostAtOnce = 8
const leastAtOnce = 2
/** Bytes of answers behind the ranges that are read ahead: their facts take about twice as much memory. */
const bytesAhead = 25_165_824
/** Part of the average that the newest range makes up. */
const newest = 0.5
/** A range that is fuller is not made longer. */
const fullEnough = 0.5
const growth = 2
/** Ranges read one at a time after a failure, because parallel requests may be its cause. */
const calmAfter = 8
/** From this part on, blocks count as mostly paying. */
const mostly = 0.75

const nothingLearnt: BloomPlan = { whole: 'none', perBlock: 1 }

/** Starts without having learnt anything. The first range is read alone, because it teaches the most. */
export function createRangeBlocks(): RangeBlocks {
  const learnt = { root: createRangeSize(sizes.root), bloom: createRangeSize(sizes.bloom) }
  /** Blocks that hold as much as a range may. */
  let room: number = sizes.bloom.max
  let plan = nothingLearnt
  const lines = new Map<string, Line>()
  let current: Line = createLine()

  function lineOf(node: string): Line {
    current = lines.get(node) ?? createLine()
    lines.set(node, current)
    return current
  }

  return {
    current: (kind) => (kind === 'root' ? learnt.root.current() : Math.min(room, learnt.bloom.current())),
    atOnce: () => current.atOnce(),
    plan: () => plan,
    read(kind, range) {
      const { asked, got, fill } = range
      lineOf(range.node).read(range)
      learnt[kind].worked(got)
      if (kind === 'root') {
        if (range.paying < got * mostly) plan = nothingLearnt
        return
      }
      const isFull = fill > fullEnough
      if (got < asked) room = Math.max(1, got)
      else if (!isFull && asked >= room) room = Math.min(sizes.bloom.max, room * growth)
      plan = planAfter(range)
    },
    failed(kind, asked, node) {
      lineOf(node).calm()
      learnt[kind].failed(asked)
    },
    limited(node) {
      lineOf(node).calm()
    },
  }
}

function planAfter({ got, candidates, paying, transactions }: RangeRead): BloomPlan {
  const whole = paying >= got * mostly ? 'all' : paying > 0 && paying >= candidates * mostly ? 'candidates' : 'none'
  return { whole, perBlock: Math.max(1, transactions / Math.max(1, candidates)) }
}

/** Ranges at a time from one node. */
interface Line {
  atOnce(): number
  read(range: Pick<RangeRead, 'received' | 'refused'>): void
  calm(): void
}

function createLine(): Line {
  let sinceFailure = calmAfter
  /** The counts of the node when the last range was read. */
  let before = { received: 0, refused: 0 }
  /** As many as the node answers without refusing any. */
  let borne: number = mostAtOnce
  /** Bytes behind a range, on average; null before the first. */
  let perRange: number | null = null
  return {
    atOnce() {
      if (perRange === null || sinceFailure < calmAfter) return 1
      const held = perRange === 0 ? uncountedAtOnce : Math.max(leastAtOnce, Math.floor(bytesAhead / perRange))
      return Math.min(borne, held)
    },
    read({ received, refused }) {
      sinceFailure += 1
      borne = refused > before.refused ? Math.max(1, Math.floor(borne / 2)) : Math.min(mostAtOnce, borne + 1)
      const bytes = Math.max(0, received - before.received)
      perRange = perRange === null ? bytes : perRange + newest * (bytes - perRange)
      before = { received, refused }
    },
    calm() {
      sinceFailure = 0
    },
  }
}
