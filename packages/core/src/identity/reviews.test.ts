import { expect, test } from 'vitest'
import { approved, begun, rejected, review } from '../../test/support/identity-setup.js'
import * as reviews from './reviews.js'

const { compareReviews, discardFutureTime, isDatedAhead, isDoubtful, isRegression, isSameReview, maxAheadMs } = reviews
const off = { isActive: false, at: 1 }

test('the newer review counts; of two with the same time the worse one, in any order', () => {
  const sign = (one: number | null, given: typeof approved, other: number | null, known: typeof approved) =>
    Math.sign(compareReviews({ reviewedAt: one, review: given }, { reviewedAt: other, review: known }))
  expect(sign(2, begun, 1, rejected)).toBe(1)
  expect(sign(1, rejected, 2, begun)).toBe(-1)
  for (const [worse, better] of [
    [rejected, approved],
    [approved, begun],
    [rejected, begun],
  ] as const)
    expect([sign(1, worse, 1, better), sign(1, better, 1, worse), sign(1, worse, 1, worse)]).toEqual([1, -1, 0])
  expect([sign(null, begun, 1, rejected), sign(1, begun, null, rejected)]).toEqual([1, 1])
})

test.each([
  ['newer', 2, 1, false],
  ['of the same time', 1, 1, true],
  ['older', 1, 2, true],
  ['without a time', null, 1, true],
  ['over one without a time', 1, null, true],
] as const)('GREEN over RED is doubtful unless it is newer: %s', (_, reviewedAt, knownAt, doubtful) => {
  const over = (given: typeof approved, stored: typeof approved) =>
    isDoubtful({ reviewedAt, review: given }, { reviewedAt: knownAt, review: stored })
  expect(over(approved, rejected)).toBe(doubtful)
  expect(over(rejected, approved)).toBe(false)
  expect(over(begun, rejected)).toBe(false)
})

test('a time up to five minutes ahead of this clock is accepted, and no later one', () => {
  expect(maxAheadMs).toBe(300_000)
  expect([isDatedAhead(300_000, 0), isDatedAhead(300_001, 0)]).toEqual([false, true])
  expect([null, 300_000, 300_001].map((at) => discardFutureTime(at, 0))).toEqual([null, 300_000, null])
})

test('a deactivated applicant is on hold, unless it was rejected', () => {
  expect(reviews.toShownReview({ review: approved, presence: off })).toEqual(review('onHold'))
  expect(reviews.toShownReview({ review: rejected, presence: off })).toEqual(rejected)
  expect(reviews.toShownReview({ review: approved, presence: { ...off, isActive: true } })).toEqual(approved)
  expect(reviews.toShownReview({ review: null, presence: off })).toBeNull()
})

test('a review without a verdict after a verdict turns back', () => {
  expect([begun, rejected, null].map((next) => isRegression(approved, next))).toEqual([true, false, false])
  expect(isRegression(begun, approved)).toBe(false)
})

test('two reviews are equal when their values are, in any order of the fields', () => {
  const { rejectLabels, ...rest } = rejected
  expect(isSameReview(rejected, { rejectLabels, ...rest })).toBe(true)
  expect(isSameReview(rejected, { ...rejected, rejectLabels: [] })).toBe(false)
  expect([isSameReview(null, null), isSameReview(null, begun)]).toEqual([true, false])
})
