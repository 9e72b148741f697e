/** How long a node is left alone that answers 429, or that sends what must not be parsed. @module */
import { parseRetryAfter } from '@payment-integration/contract/parse'
import type { Clock } from '@payment-integration/core/ports'

/** A longer `Retry-After` is cut to this, in milliseconds. */
const maxRetryAfterMs = 30_000
/** How long a node gets no request after an answer that was made to exhaust its reader, in milliseconds. */
const restMs = 600_000
/** The wait without a `Retry-After`, in milliseconds. It doubles from the third refusal in a row on. */
const BACKOFF_MS = { first: 500, last: 4_000 } as const

/** The waits that one endpoint asks for. */
export interface RateLimit {
  /**
   * It refused a request now.
   * @param retryAfter - The header as it came, or null.
   * @param isFirstOfSize - A smaller request comes next, so that longer waits are not called for yet.
   */
  refused(retryAfter: string | null, isFirstOfSize?: boolean): void
  /** It answered a request that was sent at `sentAt`. */
  answered(sentAt: number): void
  /** It sent an answer that was made to exhaust its reader. */
  rest(): void
  /** Whether it rests. That is too long to wait for. */
  isResting(): boolean
  /** When it may be asked again, by the clock; in the past when it may be asked now. */
  until(): number
}

/** Starts without a wait. */
export function createRateLimit(clock: Clock): RateLimit {
  let until = 0
  /** When the pause before the newest one ended. */
  let previous = 0
  let refusals = 0
  let restsUntil = 0
  return {
    refused(retryAfter, isFirstOfSize = false) {
      const now = clock.now()
      // Requests in flight together are refused together, and count once.
      if (now >= until) {
        if (!isFirstOfSize) refusals += 1
        previous = until
      }
      const backoff = Math.min(BACKOFF_MS.first * 2 ** Math.max(0, refusals - 2), BACKOFF_MS.last)
      // A node that refuses and names no wait, or none at all, gets the usual one.
      until = Math.max(until, now + Math.min(parseRetryAfter(retryAfter, now) || backoff, maxRetryAfterMs))
    },
    answered(sentAt) {
      if (sentAt >= until) refusals = 0
      // Of requests sent together some were refused: the pause before them was long enough.
      else if (sentAt >= previous) refusals = Math.min(refusals, 1)
    },
    rest() {
      restsUntil = clock.now() + restMs
    },
    isResting: () => clock.now() < restsUntil,
    until: () => Math.max(until, restsUntil),
  }
}
