/** How soon a connection that broke is made again. @module */
import type { Clock } from '@payment-integration/core/ports'

/** No wait after a success; then the wait doubles with each failure in a row, between these limits, in milliseconds. */
export const RECONNECT_MS = { first: 250, last: 30_000 } as const

/** The waits between connections to one node. */
export interface Reconnect {
  /** A connection could not be made, or ended. */
  failed(): void
  /** The connection is of use. */
  worked(): void
  /** How long to wait now, in milliseconds. */
  waitMs(): number
}

/** Starts without a wait. */
export function createReconnect(clock: Clock): Reconnect {
  let failures = 0
  let until = 0
  return {
    failed() {
      const wait = failures === 0 ? 0 : Math.min(RECONNECT_MS.first * 2 ** (failures - 1), RECONNECT_MS.last)
      until = clock.now() + wait
      failures += 1
    },
    worked() {
      failures = 0
    },
    waitMs: () => Math.max(0, until - clock.now()),
  }
}
