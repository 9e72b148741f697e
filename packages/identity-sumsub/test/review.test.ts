import { reviewStatuses } from '@payment-integration/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseReview, statuses } from '../src/sumsub-client.js'

const inFlight = { reviewAnswer: null, rejectType: null, rejectLabels: [] }
const green = { reviewAnswer: 'GREEN' }
const someFields = { requiredKeys: [] }

describe('states', () => {
  const states = [
    ['init', 'init'],
    ['pending', 'pending'],
    ['prechecked', 'prechecked'],
    ['queued', 'pending'],
    ['onHold', 'onHold'],
    ['awaitingUser', 'init'],
    ['awaitingService', 'pending'],
    // A completed check without a verdict still waits for a decision.
    ['completed', 'pending'],
  ] as const

  test.each(states)('%s becomes %s while there is no verdict', (status, reviewStatus) => {
    expect(parseReview(status, undefined)).toEqual({ reviewStatus, ...inFlight })
  })

  test('the list has all documented states', () => {
    expect([...statuses.keys()].sort()).toEqual(states.map(([documented]) => documented).sort())
  })

  test.each([
    ...['Completed', 'COMPLETED', 'completed ', 'approved', '', 'toString', '__proto__', 'not_started', null, 1, {}],
    ...[['completed']],
  ])('the unknown state %j is pending and never approves', (status) => {
    expect(parseReview(status, green)).toEqual({ reviewStatus: 'pending', ...inFlight })
  })
})

const remarks = { clientComment: 'secret', moderationComment: 'm', buttonIds: ['b'] }
test.each<[object, string, string | null, string[]]>([
  [green, 'GREEN', null, []],
  [{ reviewAnswer: 'GREEN', reviewRejectType: 'FINAL', rejectLabels: ['FORGERY'] }, 'GREEN', null, []],
  [{ reviewAnswer: 'RED' }, 'RED', null, []],
  [{ reviewAnswer: 'RED', reviewRejectType: 'RETRY', rejectLabels: ['A', 'B'] }, 'RED', 'RETRY', ['A', 'B']],
  [{ reviewAnswer: 'RED', reviewRejectType: 'FINAL', ...remarks }, 'RED', 'FINAL', []],
  [{ reviewAnswer: 'RED', reviewRejectType: 'final', rejectLabels: ['A', 1, null, {}, ''] }, 'RED', null, ['A', '']],
  [{ reviewAnswer: 'RED', rejectLabels: 'A' }, 'RED', null, []],
])('the verdict of a completed check with %j is %s, %s, %j', (result, reviewAnswer, rejectType, rejectLabels) => {
  const review = { reviewStatus: 'completed', reviewAnswer, rejectType, rejectLabels }
  expect(parseReview('completed', result)).toEqual(review)
})

test('of any JSON only completed with GREEN approves, and every answer is one of the contract', () => {
  const word = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('completed', 'GREEN', 'RED', 'RETRY', 'FINAL', ...statuses.keys()) },
    { weight: 1, arbitrary: fc.jsonValue() },
  )
  const result = fc.oneof(
    fc.record({ reviewAnswer: word, reviewRejectType: word, rejectLabels: fc.oneof(fc.array(word), word) }, someFields),
    fc.jsonValue(),
  )
  let approvals = 0
  fc.assert(
    fc.property(word, result, (status, given) => {
      const review = parseReview(status, given)
      const answer = (given as { reviewAnswer?: unknown } | null)?.reviewAnswer
      expect(review.reviewAnswer === 'GREEN').toBe(status === 'completed' && answer === 'GREEN')
      expect(reviewStatuses).toContain(review.reviewStatus)
      expect(review.reviewStatus === 'completed').toBe(review.reviewAnswer !== null)
      expect(review.rejectLabels.every((label) => typeof label === 'string')).toBe(true)
      if (review.reviewAnswer !== 'RED') expect([review.rejectType, review.rejectLabels]).toEqual([null, []])
      if (review.reviewAnswer === 'GREEN') approvals += 1
    }),
    { numRuns: 5_000 },
  )
  expect(approvals).toBeGreaterThan(0)
})
