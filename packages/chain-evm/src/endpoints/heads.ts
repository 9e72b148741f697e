/** Heights that endpoints reported, to find those behind. Source: docs/decisions/following-a-chain.md. @module */
import type { Clock } from '@payment-integration/core/ports'

/** How long a reported height counts, in milliseconds. A real reorg is trusted after that. */
export const HEAD_MEMORY_MS = 300_000

/** Most steps; the oldest are dropped first. */
const STEPS = 256

interface Step {
  readonly number: number
  /** When it was first reported. */
  readonly at: number
  readonly by: number
}

/** The heights of one chain, over all its endpoints. */
export interface Heads {
  /**
   * Endpoint `by` reports `number` as its head.
   * @param counts - Whether others are measured by it.
   * @returns How long a higher one has been known, in milliseconds; 0 when there is none.
   */
  report(by: number, number: number, counts: boolean): number
  /** Forgets the reports of an endpoint. */
  forget(by: number): void
  /** Newest reported height, or null. */
  best(): number | null
}

/** Starts without any height. */
export function createHeads(clock: Clock): Heads {
  /** Ascending in number and in time. */
  let steps: Step[] = []
  return {
    report(by, number, counts) {
      const now = clock.now()
      while (steps.length > STEPS || (steps[0] !== undefined && now - steps[0].at > HEAD_MEMORY_MS)) steps.shift()
      const higher = steps.find((step) => step.number > number)
      if (higher !== undefined) return now - higher.at
      if (counts && (steps.at(-1)?.number ?? -1) < number) steps.push({ number, at: now, by })
      return 0
    },
    forget(by) {
      steps = steps.filter((step) => step.by !== by)
    },
    best: () => steps.at(-1)?.number ?? null,
  }
}
