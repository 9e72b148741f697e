/** Finds blocks by their time. @module */
import type { BlockRef } from '@payment-integration/core/ports'

/** Bounds the memory; the points are found again when needed. */
const MOST_POINTS = 1_000

/** Finds blocks that are final. */
export interface BlockFinder {
  /**
   * The lowest height whose block was made at or after a time; `above + 1` when none up to `above` was.
   * @param at - Unix milliseconds.
   * @param above - A height that is final.
   * @param read - Reads the block at a height.
   */
  firstAt(at: number, above: number, read: (height: number) => Promise<BlockRef>): Promise<number>
}

/** Makes a finder that remembers the blocks it saw. */
export function createBlockFinder(): BlockFinder {
  const points = new Map<number, number>()
  return {
    async firstAt(at, above, read) {
      let low = 0
      let high = above + 1
      for (const [height, timestamp] of points) {
        if (height > above) continue
        if (timestamp < at) low = Math.max(low, height + 1)
        else high = Math.min(high, height)
      }
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const { timestamp } = await read(middle)
        if (points.size >= MOST_POINTS) points.clear()
        points.set(middle, timestamp)
        if (timestamp < at) low = middle + 1
        else high = middle
      }
      return low
    },
  }
}
