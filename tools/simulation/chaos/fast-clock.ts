/** A clock faster than real time, which shortens retries, leases and deadlines. @module */
import { systemClock } from '@payment-integration/core'
import type { Clock } from '@payment-integration/core/ports'

/** The moment at which fast clock and real clock are equal. */
export interface FastTime {
  /** Unix time in milliseconds. */
  readonly since: number
  /** Fast milliseconds per millisecond. */
  readonly speed: number
}

/** Builds the clock. Clocks of several processes agree. */
export function fastClock({ since, speed }: FastTime): Clock {
  return {
    now: () => Math.floor(since + (Date.now() - since) * speed),
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  }
}
