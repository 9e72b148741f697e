/** How many blocks to read at a time. Learns from failures alone, never from an error's text. @module */

/** The number of blocks of the next range. */
export interface RangeSize {
  /** At least 1, at most the maximum. */
  current(): number
  /** A range of `blocks` blocks was read: a full one lets the next grow by a fiftieth of the maximum. */
  succeeded(blocks: number): void
  /** A range of `blocks` blocks failed: the first failure in a row changes nothing, each further one halves what was tried. */
  failed(blocks: number): void
}

/** Starts at the maximum. @param max - A whole number of blocks, 1 or more. */
export function createRangeSize(max: number): RangeSize {
  const growth = Math.ceil(max / 50)
  let size = max
  let failures = 0
  return {
    current: () => size,
    succeeded(blocks) {
      failures = 0
      if (blocks >= size) size = Math.min(max, size + growth)
    },
    failed(blocks) {
      failures += 1
      if (failures > 1) size = Math.max(1, Math.floor(Math.min(size, blocks) / 2))
    },
  }
}
