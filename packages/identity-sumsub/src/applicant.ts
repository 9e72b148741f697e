/** An applicant as the provider answers it. @module */
import { ProviderAnswerError } from './errors.js'
import { field, text } from './internal/json.js'
import { parseTime } from './internal/times.js'
import { readDatedReview, type SumsubReview } from './review.js'

/** An applicant of ours at the provider. Nothing personal is read from it. */
export interface SumsubApplicant {
  readonly applicantId: string
  /** The name that we gave it, or null when the answer holds none. */
  readonly externalUserId: string | null
  /** Where its verification stands, or null when the answer does not say. */
  readonly review: SumsubReview | null
  /** The provider's own time of a verdict in unix milliseconds, to the second; null when it does not say. */
  readonly reviewedAt: number | null
  /** When the provider made it in unix milliseconds, to the second; null when the answer does not say. */
  readonly createdAt: number | null
  /** The level that it is checked by; null when the answer does not say. */
  readonly levelName: string | null
}

/** Reads an applicant. @throws ProviderAnswerError When the answer is no applicant. */
export function readApplicant(status: number, json: unknown): SumsubApplicant {
  const applicantId = text(field(json, 'id'))
  if (applicantId === null) throw new ProviderAnswerError(status, 'an applicant without an id')
  const review = field(json, 'review')
  const isReviewed = field(review, 'reviewStatus') !== undefined
  return {
    applicantId,
    externalUserId: text(field(json, 'externalUserId')),
    ...(isReviewed ? readDatedReview(review) : { review: null, reviewedAt: null }),
    createdAt: parseTime(field(json, 'createdAt')),
    levelName: text(field(review, 'levelName')),
  }
}
