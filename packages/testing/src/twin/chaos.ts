/** Faults of the network between service and receiver, drawn from a seed. @module */
import { createDraws, type Draws } from '../builders/draws.js'

/**
 * A fault of one attempt.
 * - `duplicate`: the request arrives twice.
 * - `late`: the service gives up; the request arrives after the next one.
 * - `lost`: the request never arrives.
 * - `slow`: the request arrives, and its answer comes after the service gave up.
 * - `skew`: the clock of the receiver is six minutes ahead.
 * - `restart`: the service ends before it records the answer, and starts again.
 */
export type ChaosFault = 'duplicate' | 'late' | 'lost' | 'slow' | 'skew' | 'restart'

/** How many attempts of a hundred each fault hits. Together at most 100. */
export type ChaosPlan = { readonly [Fault in ChaosFault]?: number | undefined }

const faults = ['duplicate', 'late', 'lost', 'slow', 'skew', 'restart'] as const satisfies readonly ChaosFault[]

/** Half of the attempts are hit; a wrong clock and a restart are half as frequent as each other fault. */
export const chaosDefaults: ChaosPlan = { duplicate: 10, late: 10, lost: 10, slow: 10, skew: 5, restart: 5 }

/**
 * Checks a plan.
 * @throws {TypeError} For an unknown fault. @throws {RangeError} When a share is no whole number from 0 to 100, or the
 * sum is above 100.
 */
export function checkChaos(plan: ChaosPlan): ChaosPlan {
  for (const [fault, share = 0] of Object.entries(plan)) {
    if (!(faults as readonly string[]).includes(fault))
      throw new TypeError(`${fault} is no fault; there are ${faults.join(', ')}.`)
    if (!Number.isInteger(share) || share < 0 || share > 100)
      throw new RangeError(`${fault} is ${share}; pass a whole number of attempts in a hundred.`)
  }
  const sum = faults.reduce((total, fault) => total + (plan[fault] ?? 0), 0)
  if (sum > 100) throw new RangeError(`The faults hit ${sum} attempts of a hundred; pass 100 at most.`)
  return plan
}

/** A sequence of faults. */
export interface Chaos {
  /** The fault of the next attempt, or null. */
  next(): ChaosFault | null
}

/**
 * Makes the sequence of a seed, for a proxy or a test harness of your own.
 * @throws {TypeError} For an unknown fault. @throws {RangeError} For a seed or a share out of range.
 */
export function createChaos({ seed, plan = chaosDefaults }: { seed: number; plan?: ChaosPlan | undefined }): Chaos {
  const draws = createDraws(seed)
  checkChaos(plan)
  return { next: () => drawFault(plan, draws) }
}

/** Draws the fault of the next attempt, or null. One draw for each attempt, whatever the plan. */
export function drawFault(plan: ChaosPlan | null, draws: Draws): ChaosFault | null {
  let left = draws.whole(0, 99)
  for (const fault of faults) {
    left -= plan?.[fault] ?? 0
    if (left < 0) return fault
  }
  return null
}
