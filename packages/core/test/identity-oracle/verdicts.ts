/** The reviews that the fake provider gives an applicant one after the other. @module */
import type { DatedReview, Review } from '../../src/ports/identity.js'
import type { Dice } from './dice.js'

export const init: Review = { reviewStatus: 'init', reviewAnswer: null, rejectType: null, rejectLabels: [] }

/**
 * The next review: a verdict with a later time than all before, or once in a while, before the first verdict, a status
 * without a time.
 * @param label - Tells this rejection from others.
 */
export function nextReview(
  before: readonly DatedReview[],
  options: { dice: Dice; now: number; greenRate: number; label: string },
): DatedReview {
  const { dice, now, greenRate, label } = options
  const newest = before.reduce((latest, { reviewedAt }) => Math.max(latest, reviewedAt ?? 0), 0)
  if (newest === 0 && dice.chance(0.2)) {
    const reviewStatus = dice.pick(['pending', 'prechecked', 'onHold'] as const)
    return { review: { ...init, reviewStatus }, reviewedAt: null }
  }
  const reviewedAt = Math.max(newest + 1, now)
  const completed: Review = { ...init, reviewStatus: 'completed' }
  if (dice.chance(greenRate)) return { review: { ...completed, reviewAnswer: 'GREEN' }, reviewedAt }
  const rejectType = dice.pick(['RETRY', 'FINAL'] as const)
  return { review: { ...completed, reviewAnswer: 'RED', rejectType, rejectLabels: [label] }, reviewedAt }
}
