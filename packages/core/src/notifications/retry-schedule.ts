/** The retry schedule, and the verdict on an attempt. Source: docs/decisions/retries.md. @module */
import { parseRetryAfter } from '@payment-integration/contract/internal-io'
import type { PostResult } from '../ports/runtime.js'
import type { AttemptDecision } from './delivery-store.js'

/** Delay after each failed attempt before jitter: 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 3 h, 6 h, 12 h, 24 h, 24 h. */
export const retryDelaysMs: readonly number[] = [
  5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 86_400,
].map((seconds) => seconds * 1_000)

/** The most attempts of one delivery: the first, and a retry per delay. */
export const maxAttempts = retryDelaysMs.length + 1
/** The jitter of delays and of blocks, as a share of their duration. */
export const jitter = 0.2
/** The longest delay that a `Retry-After` header can cause, in milliseconds. */
export const maxRetryAfterMs = 3_600_000
/** The longest wait after each failed attempt, in milliseconds: with jitter, or by `Retry-After`. */
export const maxRetryDelaysMs: readonly number[] = retryDelaysMs.map((delay) =>
  Math.max(maxRetryAfterMs, delay * (1 + jitter)),
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

/** @param fraction - The position in the jitter: 0 is -20 %, 1 is +20 %. */
export const applyJitter = (ms: number, fraction: number): number =>
  Math.round(ms * (1 - jitter + 2 * jitter * fraction))

/** The delay after a step, from 1; null after the last. */
export function planDelayMs(step: number, fraction: number): number | null {
  const delay = retryDelaysMs[step - 1]
  return delay === undefined ? null : applyJitter(delay, fraction)
}

/** Whether the receiver answered any 2xx. */
export function isDelivered(result: AttemptResult): boolean {
  return result.kind === 'answer' && result.status >= 200 && result.status <= 299
}

/** The reason of a failure in the attempt log: `status_<n>` or the network's; null when delivered. */
export function getFailureReason(result: AttemptResult): string | null {
  if (result.kind === 'failure') return result.reason
  return isDelivered(result) ? null : `status_${result.status}`
}

/** Formats the answer of an attempt: its status, the reason for none, or both for a malformed answer. */
export function formatAnswer({ status, reason }: { readonly status: number | null; readonly reason: string | null }) {
  if (status === null) return reason ?? 'no answer'
  return reason === null || reason === `status_${status}` ? String(status) : `${reason} (${status})`
}

/**
 * Decides what follows an attempt. Any 2xx is delivered. A 410 and the last failure exhaust the delivery. Otherwise a
 * retry follows after the planned delay, or after a longer `Retry-After` of up to an hour.
 */
export function decideAfterAttempt(options: {
  /** The attempt's step of the schedule, from 1; a replay starts again at 1. */
  readonly step: number
  readonly result: AttemptResult
  readonly fraction: number
  readonly now: number
}): AttemptDecision {
  const { step, result, fraction, now } = options
  if (isDelivered(result)) return { kind: 'delivered' }
  if (result.kind === 'answer' && result.status === 410) return { kind: 'exhausted' }
  const planned = planDelayMs(step, fraction)
  if (planned === null) return { kind: 'exhausted' }
  const retryAfterMs = result.kind === 'answer' ? parseRetryAfter(result.retryAfter, now) : null
  return { kind: 'retry', inMs: Math.max(planned, Math.min(retryAfterMs ?? 0, maxRetryAfterMs)) }
}
