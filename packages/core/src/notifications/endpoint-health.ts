/** When an endpoint that keeps failing is left alone, and for how long. Source: docs/decisions/fairness.md. @module */
import type { EndpointChange, EndpointHealth, EndpointResult } from '../ports/store-deliveries.js'

/** Failed attempts in a row that block an endpoint. */
export const failuresUntilBlock = 5

/** The first block, in milliseconds, before jitter; each failed probe doubles it. */
export const blockBaseMs = 5_000

/** The longest block, in milliseconds, before jitter. */
export const blockCapMs = 60_000

/** Each block is moved by up to this share of itself, either way. */
export const blockJitter = 0.2

/**
 * Decides what results do to an endpoint, in their order. Any delivered one ends a block and every count. A failed one counts; the fifth in
 * a row blocks, and from then on only a failed probe blocks again: what was under way when the block began says nothing new.
 * @param fraction - In [0, 1]; places a block within its jitter: 0 is -20 %, 0.5 is the block itself, 1 is +20 %.
 */
export function judgeEndpoint(
  before: EndpointHealth,
  results: readonly EndpointResult[],
  fraction: number,
): EndpointChange {
  let { failures, blocks } = before
  let blockMs: number | null = null
  for (const { delivered, probe } of results) {
    if (delivered) {
      failures = 0
      blocks = 0
      blockMs = null
      continue
    }
    failures += 1
    if (blocks === 0 ? failures < failuresUntilBlock : !probe) continue
    blocks += 1
    blockMs = blockLengthMs(blocks, fraction)
  }
  return { failures, blocks, blockMs }
}

/** The length of the n-th block in a row, in whole milliseconds. */
function blockLengthMs(blocks: number, fraction: number): number {
  const planned = Math.min(blockCapMs, blockBaseMs * 2 ** (blocks - 1))
  return Math.round(planned * (1 - blockJitter + 2 * blockJitter * fraction))
}
