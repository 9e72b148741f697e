/** An applicant as the provider answers it. @module */
import { ProviderAnswerError } from './errors.js'
import { field, text } from './internal/json.js'
import { type Review, readReview } from './review.js'

/** An applicant of ours at the provider. Nothing personal is read from it. */
export interface Applicant {
  readonly applicantId: string
  /** The name that we gave it, or null when the answer holds none. */
  readonly externalUserId: string | null
  /** Where its verification stands, or null when the answer does not say. */
  readonly review: Review | null
}

/** Reads an applicant. @throws ProviderAnswerError When the answer is no applicant. */
export function readApplicant(status: number, json: unknown): Applicant {
  const applicantId = text(field(json, 'id'))
  if (applicantId === null) throw new ProviderAnswerError(status, 'an applicant without an id')
  const review = field(json, 'review')
  const reviewStatus = field(review, 'reviewStatus')
  return {
    applicantId,
    externalUserId: text(field(json, 'externalUserId')),
    review: reviewStatus === undefined ? null : readReview(reviewStatus, field(review, 'reviewResult')).review,
  }
}
