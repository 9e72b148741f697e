/** The retry schedule, and the verdict on an attempt. See docs/decisions/retries.md, docs/interface.md 6. @module */
import { parseRetryAfter } from '@payment-integration/contract/parse'
import type { PostResult } from '../ports/sender.js'
import type { AttemptVerdict } from '../ports/store-deliveries.js'

const minute = 60_000
const hour = 60 * minute

/** Planned delay after each failed attempt, in milliseconds, before jitter. */
export const retryDelaysMs: readonly number[] = [
  5_000,
  30_000,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
  24 * hour,
]

/** Most attempts of one delivery: the first, and a retry per delay. */
export const maxAttempts = retryDelaysMs.length + 1

/** Jitter of a delay, as a share of its length. */
export const retryJitter = 0.2

/** The longest delay that a `Retry-After` header can cause, in milliseconds. */
export const retryAfterCapMs = hour

/** The longest wait after the failed attempt of each step, in milliseconds: with jitter, or by `Retry-After`. */
export const longestRetriesMs: readonly number[] = retryDelaysMs.map((delay) =>
  Math.max(retryAfterCapMs, delay * (1 + retryJitter)),
)

/** The result of a POST, or the reason why nothing was sent. */
export type AttemptResult =
  | PostResult
  | {
      readonly kind: 'failure'
      readonly reason: 'secret_unreadable'
      readonly status?: undefined
      readonly latencyMs: number
    }

/**
 * The planned delay after a failed attempt, in whole milliseconds; null after the last attempt.
 * @param step - The failed attempt's step of the schedule, from 1.
 * @param fraction - Position in the jitter: 0 is -20 %, 0.5 none, 1 is +20 %.
 */
export function plannedDelayMs(step: number, fraction: number): number | null {
  const delay = retryDelaysMs[step - 1]
  return delay === undefined ? null : Math.round(delay * (1 - retryJitter + 2 * retryJitter * fraction))
}

/** The reason of a failure in the attempt log: `status_<n>` or the network's; null for any 2xx response. */
export function failureReason(result: AttemptResult): string | null {
  if (result.kind === 'failure') return result.reason
  return result.status >= 200 && result.status <= 299 ? null : `status_${result.status}`
}

/** The answer of an attempt in words: its status, the reason for none, or both for a malformed answer. */
export function answerText({ status, reason }: { readonly status: number | null; readonly reason: string | null }) {
  if (status === null) return reason ?? 'no answer'
  return reason === null || reason === `status_${status}` ? String(status) : `${reason} (${status})`
}

/**
 * Decides what follows an attempt. Any 2xx is delivered; everything else failed, redirects included.
 * A retry comes after the planned delay, or after a longer `Retry-After` of up to an hour. A 410 and the last failure
 * exhaust the delivery.
 * @param options.now - Unix time in milliseconds, the base of a `Retry-After` date.
 */
export function nextVerdict(options: {
  /** The attempt's step of the schedule, from 1; a replay starts again at 1. */
  readonly step: number
  readonly result: AttemptResult
  /** See {@link plannedDelayMs}. */
  readonly fraction: number
  readonly now: number
}): AttemptVerdict {
  const { step, result, fraction, now } = options
  if (failureReason(result) === null) return { kind: 'delivered' }
  if (result.kind === 'answer' && result.status === 410) return { kind: 'exhausted' }
  const planned = plannedDelayMs(step, fraction)
  if (planned === null) return { kind: 'exhausted' }
  const retryAfterMs = result.kind === 'answer' ? parseRetryAfter(result.retryAfter, now) : null
  return { kind: 'retry', inMs: Math.max(planned, Math.min(retryAfterMs ?? 0, retryAfterCapMs)) }
}
