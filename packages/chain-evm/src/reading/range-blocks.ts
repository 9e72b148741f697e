/** Chooses blocks per range and parallel ranges: many where payments are rare, few where they are dense. @module */
import { createRangeSize } from '../internal/range-size.js'

/** Whether the receipts of all blocks of a range are read, or of those alone that may hold a payment. */
export type RangeKind = 'root' | 'bloom'

/** Learns from range to range. */
export interface RangeBlocks {
  current(kind: RangeKind): number
  /** Ranges that are read at a time, and held until they are asked for. */
  atOnce(): number
  /**
   * A range was read.
   * @param asked - Blocks that were to be read.
   * @param got - Blocks that it holds: fewer, when it would have held too much.
   * @param fill - Part of what it may hold.
   */
  read(kind: RangeKind, asked: number, got: number, fill: number): void
  /** An endpoint brought no answer, or nonsense, for so many blocks. */
  failed(kind: RangeKind, asked: number): void
  /** An endpoint wanted fewer requests. */
  limited(): void
}

const sizes = { root: { start: 16, max: 16 }, bloom: { start: 128, max: 1_000 } } as const
const mostAtOnce = 3
/** Dense blocks keep this process busy, not the node, so a third parallel range would only use memory. */
const fullAtOnce = 2
/** A range that is fuller is not made longer. */
const fullEnough = 0.5
const growth = 2
/** Ranges read one at a time after a failure, because parallel requests may be its cause. */
const calmAfter = 8

/** Starts without having learnt anything. */
export function createRangeBlocks(): RangeBlocks {
  const learnt = { root: createRangeSize(sizes.root), bloom: createRangeSize(sizes.bloom) }
  /** Blocks that hold as much as a range may. */
  let room: number = sizes.bloom.max
  let isFull = false
  let sinceFailure = calmAfter
  return {
    current: (kind) => (kind === 'root' ? learnt.root.current() : Math.min(room, learnt.bloom.current())),
    atOnce: () => (sinceFailure < calmAfter ? 1 : isFull ? fullAtOnce : mostAtOnce),
    read(kind, asked, got, fill) {
      sinceFailure += 1
      learnt[kind].worked(got)
      if (kind === 'root') return
      isFull = fill > fullEnough
      if (got < asked) room = Math.max(1, got)
      else if (!isFull && asked >= room) room = Math.min(sizes.bloom.max, room * growth)
    },
    failed(kind, asked) {
      sinceFailure = 0
      learnt[kind].failed(asked)
    },
    limited() {
      sinceFailure = 0
    },
  }
}
