/** Bounds how many passphrases are hashed at once. Source: docs/decisions/operators.md. @module */
import { SignInLimitedError } from './errors.js'

/** Two hashes take 256 MiB and two of the four threads that Node has for such work. */
export const hashSlotDefaults = { slots: 2, waiting: 16, busyMs: 5_000 } as const

/** Bounds of {@link HashSlots}. */
interface HashSlotLimits {
  /** Most hashes at once. */
  readonly slots: number
  /** Most callers that wait for a slot. */
  readonly waiting: number
  /** The wait that further callers are asked for, in milliseconds. */
  readonly busyMs: number
}

/**
 * Runs work in one of a few slots, in the order of arrival.
 * @throws SignInLimitedError `ERR_SIGN_IN_LIMITED` when too many wait already.
 */
export type HashSlots = <T>(work: () => Promise<T>) => Promise<T>

/** Builds the slots of one process. */
export function createHashSlots({ slots, waiting, busyMs }: HashSlotLimits = hashSlotDefaults): HashSlots {
  let free = slots
  const queue: (() => void)[] = []
  return async (work) => {
    if (free > 0) free -= 1
    else {
      if (queue.length >= waiting) throw new SignInLimitedError(busyMs)
      // Whoever ends hands its slot over, so `free` stays the same.
      await new Promise<void>((resolve) => queue.push(resolve))
    }
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
