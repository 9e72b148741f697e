/** How many blocks a range takes: many where little happens, few where much does. @module */

/** Learns from range to range. */
export interface RangeBlocks {
  current(): number
  /**
   * A range was read.
   * @param asked - Blocks that were to be read.
   * @param got - Blocks that it holds: fewer, when it would have held too much.
   * @param fill - Part of what it may hold.
   */
  read(asked: number, got: number, fill: number): void
  /** No endpoint could answer for one. */
  failed(): void
}

const start = 128
const most = 1_000
/** A range that is fuller is not made longer. */
const fullEnough = 0.5
const growth = 2
/** Something may be too large for every endpoint; the same size again would not help. */
const shrink = 4

/** Starts without having learnt anything. */
export function createRangeBlocks(): RangeBlocks {
  let size = start
  return {
    current: () => size,
    read(asked, got, fill) {
      if (got < asked) size = Math.max(1, got)
      else if (fill <= fullEnough && asked >= size) size = Math.min(most, size * growth)
    },
    failed() {
      size = Math.max(1, Math.floor(size / shrink))
    },
  }
}
