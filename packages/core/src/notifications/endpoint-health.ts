/** Decides when a failing endpoint is blocked, and for how long. See docs/decisions/fairness.md. @module */
import type { EndpointChange, EndpointHealth, EndpointResult } from '../ports/store-deliveries.js'

/** Failed attempts in a row that block an endpoint. */
export const failuresUntilBlock = 5

/** The first block, in milliseconds, before cap and jitter; each failed probe doubles it. */
export const blockBaseMs = 5_000

/** Jitter of a block, as a share of its length. */
export const blockJitter = 0.2

/** The longest block with a cap before jitter, in milliseconds. */
export const longestBlockMs = (capMs: number): number => Math.ceil(capMs * (1 + blockJitter))

/** Limits of a block's length. */
export interface BlockLimits {
  readonly capMs: number
  readonly fraction: number
}

/**
 * Computes an endpoint's health from results in order. A delivered attempt resets it. The fifth failure in a row
 * blocks; during a block only a failed probe blocks again, since other results were in flight when it began.
 *
 * @param limits.capMs - The longest block, in milliseconds, before jitter.
 * @param limits.fraction - Position in the jitter: 0 is -20 %, 0.5 none, 1 is +20 %.
 */
export function judgeEndpoint(
  before: EndpointHealth,
  results: readonly EndpointResult[],
  limits: BlockLimits,
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
    blockMs = blockLengthMs(blocks, limits)
  }
  return { failures, blocks, blockMs }
}

/** The length of the n-th block in a row, in whole milliseconds. */
function blockLengthMs(blocks: number, { capMs, fraction }: BlockLimits): number {
  const planned = Math.min(capMs, blockBaseMs * 2 ** (blocks - 1))
  return Math.round(planned * (1 - blockJitter + 2 * blockJitter * fraction))
}
