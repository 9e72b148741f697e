/**
 * A clock that runs faster than the world, so that retries, leases and deadlines of seconds take a fraction of them.
 * @module
 */
import { systemClock } from '@payment-integration/core'
import type { Clock } from '@payment-integration/core/ports'

/** When the fast clock showed what the world's did. */
export interface FastTime {
  /** Unix time in milliseconds. */
  readonly since: number
  /** Fast milliseconds per millisecond. */
  readonly speed: number
}

/** Builds the clock; clocks of several processes agree. */
export function fastClock({ since, speed }: FastTime): Clock {
  return {
    now: () => Math.floor(since + (Date.now() - since) * speed),
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  }
}
