/** How many blocks a range takes, and how many ranges are read at a time: many where little happens, few where much does. @module */

/** Learns from range to range. */
export interface RangeBlocks {
  current(): number
  /** Ranges that are read at a time, and held until they are asked for. */
  atOnce(): number
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
const mostAtOnce = 3
/** Reading what is full of payments is work for this process, more than waiting for a node; a third one would only be held. */
const fullAtOnce = 2
/** A range that is fuller is not made longer. */
const fullEnough = 0.5
const growth = 2
/** Something may be too large for every endpoint; the same size again would not help. */
const shrink = 4

/** Starts without having learnt anything. */
export function createRangeBlocks(): RangeBlocks {
  let size = start
  let isFull = false
  return {
    current: () => size,
    atOnce: () => (isFull ? fullAtOnce : mostAtOnce),
    read(asked, got, fill) {
      isFull = fill > fullEnough
      if (got < asked) size = Math.max(1, got)
      else if (fill <= fullEnough && asked >= size) size = Math.min(most, size * growth)
    },
    failed() {
      size = Math.max(1, Math.floor(size / shrink))
    },
  }
}
