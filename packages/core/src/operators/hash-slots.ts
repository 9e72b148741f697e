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

/** A caller that waits for a slot. */
interface Waiter {
  readonly network: string
  readonly start: () => void
  readonly reject: (error: SignInLimitedError) => void
}

/**
 * Runs work in one of a few slots, in the order of arrival. When the queue is full, the network with the most waiting
 * callers loses its newest one to a network with fewer.
 * @param network - Who asks, as {@link networkOf} returns it.
 * @throws SignInLimitedError `ERR_SIGN_IN_LIMITED` when too many wait.
 */
export type HashSlots = <T>(network: string, work: () => Promise<T>) => Promise<T>

/** Builds the slots of one process. */
export function createHashSlots({ slots, waiting, busyMs }: HashSlotLimits = hashSlotDefaults): HashSlots {
  let free = slots
  const queue: Waiter[] = []

  /** Frees a place of the queue for a caller of the network, or throws. */
  function makePlace(network: string): void {
    const counts = new Map<string, number>()
    for (const each of queue) counts.set(each.network, (counts.get(each.network) ?? 0) + 1)
    const [largest = '', count = 0] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0])
    if ((counts.get(network) ?? 0) + 1 >= count) throw new SignInLimitedError(busyMs)
    const [displaced] = queue.splice(
      queue.findLastIndex((each) => each.network === largest),
      1,
    )
    displaced?.reject(new SignInLimitedError(busyMs))
  }

  return async (network, work) => {
    if (free > 0) free -= 1
    else {
      if (queue.length >= waiting) makePlace(network)
      // Whoever ends hands its slot over, so `free` stays the same.
      await new Promise<void>((start, reject) => queue.push({ network, start, reject }))
    }
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next === undefined) free += 1
      else next.start()
    }
  }
}

/** The network of a source: /24 of IPv4, /48 of IPv6. One owner has all sources of it. Any other text is its own. */
export function networkOf(source: string): string {
  const [, v4] = /^(?:::ffff:)?(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/i.exec(source) ?? []
  if (v4 !== undefined) return `${v4}.0/24`
  if (!source.includes(':')) return source
  // The groups that `::` stands for are zeros.
  const groups = (source.split('::', 1)[0] ?? '').split(':')
  return `${[0, 1, 2]
    .map((n) => Number.parseInt(groups[n] ?? '', 16) || 0)
    .map((group) => group.toString(16))
    .join(':')}::/48`
}
