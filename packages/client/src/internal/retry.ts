/** Decides whether to retry, and after which wait. @module */
import { NetworkError, RateLimitedError, ServiceUnavailableError, TimeoutError } from '../errors.js'
import { IdentityUnavailableError } from '../identity/errors.js'

const retriedStatuses: ReadonlySet<number> = new Set([502, 503, 504])

/** Facts that the decision depends on. */
export interface RetryPlan {
  /** The error of the failed attempt. */
  readonly error: unknown
  /** 1 before the first retry. */
  readonly retry: number
  readonly retryDelayMs: number
  readonly maxRetryDelayMs: number
  /** The remaining time of the whole call, in milliseconds. */
  readonly remainingMs: number
  readonly random: () => number
}

/**
 * Milliseconds to wait before the retry. Null gives up: the error is final, or the wait exceeds the remaining time.
 * Full jitter under an exponential ceiling; never waits less than `Retry-After`.
 */
export function planRetry(plan: RetryPlan): number | null {
  const { error, retry, retryDelayMs, maxRetryDelayMs, remainingMs, random } = plan
  const mayNameWait = isRetriedStatus(error)
  if (!mayNameWait && !(error instanceof NetworkError) && !(error instanceof TimeoutError)) return null
  const backoffMs = random() * Math.min(maxRetryDelayMs, retryDelayMs * 2 ** (retry - 1))
  const retryAfterMs = mayNameWait ? (error.retryAfterSeconds ?? 0) * 1_000 : 0
  const waitMs = Math.max(backoffMs, retryAfterMs)
  return waitMs < remainingMs ? waitMs : null
}

/** Whether the error is of a retried status; its answer may have a `Retry-After`. */
function isRetriedStatus(
  error: unknown,
): error is RateLimitedError | ServiceUnavailableError | IdentityUnavailableError {
  if (error instanceof ServiceUnavailableError) return retriedStatuses.has(error.status)
  return error instanceof RateLimitedError || error instanceof IdentityUnavailableError
}

/**
 * Parses a `Retry-After` header, in seconds or as an HTTP date.
 * @returns Whole seconds from `now` (unix milliseconds); 0 for a past date; null when absent or malformed.
 */
export function parseRetryAfter(value: string | null, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  // Date.parse accepts far more than HTTP dates ("-5" is a year), so the shape is checked first.
  if (!/^[A-Za-z]{3,9}, .+ GMT$/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1_000))
}
