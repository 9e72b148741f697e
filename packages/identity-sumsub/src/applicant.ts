/** Parses an applicant of the provider. @module */
import { ProviderAnswerError } from './errors.js'
import { field, text } from './internal/json.js'
import { parseTime } from './internal/times.js'
import { readDatedReview, type SumsubReview } from './review.js'

/** An applicant of the service. Personal data are not parsed. */
export interface SumsubApplicant {
  readonly applicantId: string
  /** The external user id, or null when the answer has none. */
  readonly externalUserId: string | null
  /** The status of its verification, or null when the answer has none. */
  readonly review: SumsubReview | null
  /** The provider's time of a verdict in unix milliseconds, to the second; null when absent. */
  readonly reviewedAt: number | null
  /** The provider's time of creation in unix milliseconds, to the second; null when absent. */
  readonly createdAt: number | null
  /** Its verification level; null when absent. */
  readonly levelName: string | null
}

/** Parses an applicant. @throws ProviderAnswerError When the answer is not an applicant. */
export function readApplicant(status: number, json: unknown): SumsubApplicant {
  const applicantId = text(field(json, 'id'))
  if (applicantId === null) throw new ProviderAnswerError(status, 'an applicant without an id')
  const review = field(json, 'review')
  const isReviewed = field(review, 'reviewStatus') !== undefined
  return {
    applicantId,
    externalUserId: text(field(json, 'externalUserId')),
    ...readDatedReview(review),
    ...(isReviewed ? {} : { review: null }),
    createdAt: parseTime(field(json, 'createdAt')),
  }
}
