/** When a failed delivery is tried again, and when it is given up. Source: docs/decisions/retries.md, docs/interface.md 6. @module */
import type { PostResult } from '../ports/sender.js'
import type { AttemptVerdict } from '../ports/store-deliveries.js'
import { parseRetryAfter } from './retry-after.js'

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

/** Attempts of one delivery in all: the first one and a retry per delay. */
export const maxAttempts = retryDelaysMs.length + 1

/** Each delay is moved by up to this share of itself, either way. */
export const retryJitter = 0.2

/** The longest wait that a `Retry-After` header can ask for, in milliseconds. */
export const retryAfterCapMs = hour

/** What an attempt came to: an outcome of the network, or no attempt because the signing secret could not be opened. */
export type AttemptResult =
  | PostResult
  | { readonly kind: 'failure'; readonly reason: 'secret_unreadable'; readonly latencyMs: number }

/**
 * The planned delay after a failed attempt, in whole milliseconds, or null when that attempt was the last.
 * @param step - Which attempt of the schedule failed, from 1.
 * @param fraction - Places the delay within its jitter: 0 is -20 %, 0.5 is the delay itself, 1 is +20 %.
 */
export function plannedDelayMs(step: number, fraction: number): number | null {
  const delay = retryDelaysMs[step - 1]
  return delay === undefined ? null : Math.round(delay * (1 - retryJitter + 2 * retryJitter * fraction))
}

/** Why an attempt failed, as the attempt log keeps it: `status_<n>` or the reason; null for any 2xx answer. */
export function failureReason(result: AttemptResult): string | null {
  if (result.kind === 'failure') return result.reason
  return result.status >= 200 && result.status <= 299 ? null : `status_${result.status}`
}

/**
 * Decides what follows an attempt. Any 2xx is delivered; everything else, redirects included, failed.
 * A failure is retried after the planned delay, or later where `Retry-After` asks for it, up to an hour; it never comes
 * earlier than planned. A 410 ends the delivery at once, and so does the failure of the last attempt.
 * @param options.now - Unix time in milliseconds, against which a `Retry-After` date is read.
 */
export function nextVerdict(options: {
  /** Which attempt of the schedule was made, from 1: a replay begins anew. */
  readonly step: number
  readonly result: AttemptResult
  /** In [0, 1]: the jitter of {@link plannedDelayMs}. */
  readonly fraction: number
  readonly now: number
}): AttemptVerdict {
  const { step, result, fraction, now } = options
  if (failureReason(result) === null) return { kind: 'delivered' }
  if (result.kind === 'answer' && result.status === 410) return { kind: 'exhausted' }
  const planned = plannedDelayMs(step, fraction)
  if (planned === null) return { kind: 'exhausted' }
  const asked = result.kind === 'answer' ? parseRetryAfter(result.retryAfter, now) : null
  return { kind: 'retry', inMs: Math.max(planned, Math.min(asked ?? 0, retryAfterCapMs)) }
}
