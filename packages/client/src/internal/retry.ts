/** When to try again, and when to stop. @module */
import { NetworkError, RateLimitedError, ServiceUnavailableError } from '../errors.js'
import { IdentityUnavailableError } from '../identity/errors.js'

const retriedStatuses: ReadonlySet<number> = new Set([502, 503, 504])

/** What the plan depends on. */
export interface RetryPlan {
  /** The failed try's error; ky's own for a timed-out try. */
  readonly error: unknown
  readonly timedOut: boolean
  /** 1 before the first retry. */
  readonly retry: number
  readonly retryDelayMs: number
  readonly maxRetryDelayMs: number
  /** What is left of the whole call's time, in milliseconds. */
  readonly remainingMs: number
  readonly random: () => number
}

/**
 * Milliseconds to wait before the next try, or null to give up: the error is final, or the wait would outlast the call's time.
 * Full jitter over an exponential ceiling; a `Retry-After` is never cut short.
 */
export function planRetry(plan: RetryPlan): number | null {
  const { error, timedOut, retry, retryDelayMs, maxRetryDelayMs, remainingMs, random } = plan
  const mayWait = saysWhen(error)
  if (!timedOut && !mayWait && !(error instanceof NetworkError)) return null
  const backoffMs = random() * Math.min(maxRetryDelayMs, retryDelayMs * 2 ** (retry - 1))
  const askedMs = mayWait ? (error.retryAfterSeconds ?? 0) * 1_000 : 0
  const waitMs = Math.max(backoffMs, askedMs)
  return waitMs < remainingMs ? waitMs : null
}

function saysWhen(error: unknown): error is RateLimitedError | ServiceUnavailableError | IdentityUnavailableError {
  if (error instanceof ServiceUnavailableError) return retriedStatuses.has(error.status)
  return error instanceof RateLimitedError || error instanceof IdentityUnavailableError
}

/**
 * Reads a `Retry-After` header, in seconds or as an HTTP date.
 * @returns Whole seconds from `now` (unix milliseconds), 0 for a moment that has passed, null for an absent or unreadable value.
 */
export function parseRetryAfter(value: string | null, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  // Date.parse reads far more than HTTP dates ("-5" is a year), so the shape is checked first.
  if (!/^[A-Za-z]{3,9}, .+ GMT$/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1_000))
}
