/**
 * Learns how many blocks one request may ask for, from requests that work, never from error texts.
 *
 * Sizes grow by a step after each success. After a failure the smallest request is tried: if that fails too, the size
 * is not the cause and stays. Otherwise the size is tried once more, and halved until it works. The smallest failed
 * size becomes a ceiling, which is approached by halves and tried again more rarely each time it holds.
 * @module
 */

/** Bounds of the sizes, in blocks. */
export interface RangeSizeOptions {
  /** Where to begin. */
  readonly start: number
  /** Never more than this. */
  readonly max: number
  /** What a size grows by while no ceiling is known. @default a quarter of `start` */
  readonly step?: number | undefined
}

/** The sizes of one kind of request. */
export interface RangeSize {
  /** Most blocks that a request should span now. */
  current(): number
  /** A request over `blocks` worked. */
  worked(blocks: number): void
  /** A request over `blocks` failed. Says what that is laid to; `unsure` until a smaller one is tried. */
  failed(blocks: number): 'size' | 'unsure' | 'not-size'
  /** A request over `blocks` failed, and a smaller one is known to be the cure: none is tried to find that out. */
  tooLarge(blocks: number): void
}

/**
 * Successes at a ceiling before it is tried again: at first, at first where a refusal for the rate set it, and at most.
 */
const RETEST_AFTER = { first: 32, guessed: 4, most: 1_024 } as const
/** Part of the starting size that a size grows by, unless told otherwise. */
const STEP = 0.25

/** Starts without having learnt anything. */
export function createRangeSize(options: RangeSizeOptions): RangeSize {
  const { start, max, step = Math.max(1, Math.floor(start * STEP)) } = options
  let size = Math.min(start, max)
  /** Largest that worked lately; 0: none yet. */
  let good = 0
  /** The ceiling, and whether a failure set it. */
  let ceiling = { blocks: max, learnt: false }
  /**
   * `back`: after a failed step, the size before it must work. `probing`: the smallest request shows the cause of a
   * failure. `repeating`: the failed size is tried once more.
   */
  let phase: 'steady' | 'back' | 'probing' | 'repeating' | 'halving' = 'steady'
  let before = { size, ceiling }
  let atCeiling = 0
  let retestAfter: number = RETEST_AFTER.first

  function stepBack(blocks: number): 'size' {
    // A ceiling that was tried again has held.
    ceiling = { blocks: ceiling.learnt ? Math.min(ceiling.blocks, blocks - 1) : blocks - 1, learnt: true }
    size = good
    phase = 'back'
    return 'size'
  }

  function probe(blocks: number): 'unsure' {
    size = Math.min(size, blocks)
    phase = 'probing'
    return 'unsure'
  }

  function halve(blocks: number): 'size' {
    ceiling = { blocks: Math.max(1, blocks - 1), learnt: true }
    size = Math.max(1, Math.floor(blocks / 2))
    phase = 'halving'
    return 'size'
  }

  function notSize(): 'not-size' {
    ;({ size, ceiling } = before)
    phase = 'steady'
    return 'not-size'
  }

  function grow(): void {
    const left = ceiling.blocks - size
    if (left > 0) size += ceiling.learnt ? Math.ceil(left / 2) : Math.min(step, left)
    else if (ceiling.learnt && ++atCeiling >= retestAfter) {
      atCeiling = 0
      retestAfter = Math.min(retestAfter * 2, RETEST_AFTER.most)
      size = Math.min(max, size + step)
    }
  }

  return {
    current: () => (phase === 'probing' ? 1 : size),
    worked(blocks) {
      if (blocks > ceiling.blocks) {
        ceiling = { blocks: max, learnt: false }
        retestAfter = RETEST_AFTER.first
      }
      if (phase === 'probing') phase = 'repeating'
      else if (phase === 'halving') {
        if (blocks * 2 <= size) return
        phase = 'steady'
        good = blocks
      } else if (phase !== 'steady') {
        if (blocks < size) return
        phase = 'steady'
      }
      good = Math.max(good, blocks)
      if (phase === 'steady' && blocks >= size) grow()
    },
    failed(blocks) {
      if (phase === 'probing') return blocks === 1 ? notSize() : 'unsure'
      if (phase === 'steady') before = { size, ceiling }
      if (phase === 'steady' && good > 0 && blocks > good) return stepBack(blocks)
      if (phase === 'steady' || (phase === 'back' && blocks <= size)) return blocks === 1 ? notSize() : probe(blocks)
      // Larger requests were in flight when the size fell; they say nothing new.
      if (blocks > size) return 'size'
      return blocks === 1 ? notSize() : halve(blocks)
    },
    tooLarge(blocks) {
      if (blocks === 1 || blocks > size) return
      if (!ceiling.learnt) retestAfter = RETEST_AFTER.guessed
      if (phase === 'steady' && good > 0 && blocks > good) stepBack(blocks)
      else halve(blocks)
    },
  }
}
