import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PostResult } from '../ports/runtime.js'
import * as schedule from './retry-schedule.js'

const { decideAfterAttempt, formatAnswer, getFailureReason, maxAttempts, planDelayMs, maxRetryAfterMs } = schedule
const now = Date.UTC(2026, 2, 4, 12, 0, 0)
const answer = (status: number, retryAfter: string | null = null): PostResult => ({
  ...{ kind: 'answer', status, retryAfter, excerpt: null, latencyMs: 12 },
})
const decide = (step: number, result: Parameters<typeof decideAfterAttempt>[0]['result']) =>
  decideAfterAttempt({ step, result, fraction: 0.5, now })
const failed = { kind: 'failure', reason: 'timeout', latencyMs: 5_000 } as const

/** Planned delays after each step of the schedule that failed, in milliseconds. */
const planned = [
  ...[5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000],
  86_400_000,
].map((ms, index) => [index + 1, (ms / 5) * 4, ms, (ms / 5) * 6] as const)

test.each(planned)('attempt %d is retried after %d to %d to %d ms', (step, ...delays) => {
  const verdicts = [0, 0.5, 1].map((fraction) => decideAfterAttempt({ step, result: failed, fraction, now }))
  expect(verdicts).toEqual(delays.map((inMs) => ({ kind: 'retry', inMs })))
})

test('there are twelve attempts, and a failed twelfth ends the delivery', () => {
  expect(maxAttempts).toBe(12)
  expect(decide(11, failed).kind).toBe('retry')
  expect(decide(12, failed)).toEqual({ kind: 'exhausted' })
  expect(decide(13, failed)).toEqual({ kind: 'exhausted' })
  expect(planDelayMs(12, 0.5)).toBeNull()
})

test.each([200, 201, 202, 204, 206, 226, 299])('answer %d delivers, on any attempt', (status) => {
  for (const step of [1, 11, 12]) expect(decide(step, answer(status, '60'))).toEqual({ kind: 'delivered' })
  expect(getFailureReason(answer(status))).toBeNull()
})

test.each([100, 199, 300, 301, 304, 308, 400, 401, 403, 404, 408, 409, 411, 418, 429, 499, 500, 502, 503, 599])(
  'answer %d is retried',
  (status) => {
    expect(decide(1, answer(status))).toEqual({ kind: 'retry', inMs: 5_000 })
    expect(getFailureReason(answer(status))).toBe(`status_${status}`)
  },
)

test.each([
  ...(['timeout', 'connection', 'rejected_address', 'secret_unreadable'] as const).map((reason) => ({ reason })),
  ...[null, 200, 204, 410].map((status) => ({ reason: 'malformed_answer', status }) as const),
])('failure %j is retried', (failure) => {
  const result = { kind: 'failure', latencyMs: 1, ...failure } as const
  expect(decide(2, result)).toEqual({ kind: 'retry', inMs: 30_000 })
  expect(getFailureReason(result)).toBe(failure.reason)
})

test.each([
  [200, null, '200'],
  [503, 'status_503', '503'],
  [null, 'timeout', 'timeout'],
  [200, 'malformed_answer', 'malformed_answer (200)'],
  [null, 'malformed_answer', 'malformed_answer'],
  [null, null, 'no answer'],
])('status %s with reason %s reads %s', (status, reason, text) => {
  expect(formatAnswer({ status, reason })).toBe(text)
})

test.each([
  ['earlier than planned', 1, '4', 5_000],
  ['exactly as planned', 1, '5', 5_000],
  ['later than planned', 1, '6', 6_000],
  ['one second under the cap', 1, '3599', 3_599_000],
  ['the cap', 1, '3600', 3_600_000],
  ['above the cap', 1, '3601', 3_600_000],
  ['absurd', 1, '9'.repeat(400), 3_600_000],
  ['a date later than planned', 1, 'Wed, 04 Mar 2026 12:10:00 GMT', 600_000],
  ['a date in the past', 1, 'Wed, 04 Mar 2026 11:00:00 GMT', 5_000],
  ['malformed', 1, 'soon', 5_000],
  ['the cap, when that is what was planned', 6, '7200', 3_600_000],
  ['less than a planned delay above the cap', 7, '7200', 10_800_000],
  ['more than a planned delay above the cap', 7, '86400', 10_800_000],
] as const)('Retry-After: %s', (_case, step, retryAfter, inMs) => {
  for (const status of [302, 429, 503])
    expect(decide(step, answer(status, retryAfter))).toEqual({ kind: 'retry', inMs })
})

test('a retry comes within the jitter of its plan, or later by Retry-After, within its cap', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 11 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.oneof(fc.constant(null), fc.nat().map(String), fc.string()),
      (step, fraction, retryAfter) => {
        const verdict = decideAfterAttempt({ step, result: answer(503, retryAfter), fraction, now })
        const delay = schedule.retryDelaysMs[step - 1] ?? Number.NaN
        expect(verdict.kind).toBe('retry')
        if (verdict.kind !== 'retry') return
        expect(Number.isSafeInteger(verdict.inMs)).toBe(true)
        expect(verdict.inMs).toBeGreaterThanOrEqual(delay * 0.8)
        expect(verdict.inMs).toBeLessThanOrEqual(Math.max(delay * 1.2, maxRetryAfterMs))
        if (retryAfter === null) expect(verdict.inMs).toBeLessThanOrEqual(delay * 1.2)
      },
    ),
  )
})

test('answer 410 ends the delivery at once, whatever Retry-After says', () => {
  expect(decide(1, answer(410, '60'))).toEqual({ kind: 'exhausted' })
  expect(getFailureReason(answer(410))).toBe('status_410')
})
