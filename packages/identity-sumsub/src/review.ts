/**
 * Parses an applicant of the provider, and maps its review to the contract. Source: docs/interface.md 2.5, 3.
 * @module
 */

import type { ReviewStatus, ShareResponse } from '@payment-integration/contract'
import { parseInstant } from '@payment-integration/contract/internal-parse'
import { field, text, texts } from './connection.js'
import { ProviderAnswerError } from './errors.js'

/**
 * Unix milliseconds of a time such as `2020-02-21 13:23:19.001`, in UTC with or without an offset of zero; null for
 * anything else.
 */
export function parseTime(value: unknown): number | null {
  const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?)(?:Z|\+00:?00)?$/.exec(text(value) ?? '')
  return match === null ? null : parseInstant(`${match[1]}T${match[2]}Z`)
}

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

/** A verification as the contract shows it. */
export type SumsubReview = Omit<ShareResponse, 'reused'>

/** A review with its level and the time of its verdict. */
export interface DatedSumsubReview {
  readonly review: SumsubReview
  /**
   * The provider's time of a verdict in unix milliseconds, to the second; null without a verdict or a time.
   */
  readonly reviewedAt: number | null
  /** The level of the review; null when absent. */
  readonly levelName: string | null
}

/**
 * States of the provider and their statuses in the contract, which also has `not_started` of the service itself. In
 * `queued` and `awaitingService` the provider works; `awaitingUser` waits for documents, like `init`.
 */
const statuses: Readonly<Record<string, ReviewStatus>> = {
  init: 'init',
  pending: 'pending',
  prechecked: 'prechecked',
  queued: 'pending',
  completed: 'completed',
  onHold: 'onHold',
  awaitingUser: 'init',
  awaitingService: 'pending',
}

/** Documented states of the provider. */
export const providerStatuses: readonly string[] = Object.keys(statuses)

/**
 * Parses a state with its result. Only `completed` with GREEN or RED is a verdict; an unknown value is still in flight
 * and never approves. `known`: whether the provider documents the state.
 */
export function readReview(
  status: unknown,
  result: unknown,
): { readonly review: SumsubReview; readonly known: boolean } {
  const name = text(status)
  const known = name !== null && Object.hasOwn(statuses, name)
  const reviewStatus = known ? (statuses[name] ?? 'pending') : 'pending'
  const answer = field(result, 'reviewAnswer')
  const isDone = reviewStatus === 'completed' && (answer === 'GREEN' || answer === 'RED')
  if (!isDone) {
    // A completed check without an answer still waits for a decision.
    const inFlight = reviewStatus === 'completed' ? 'pending' : reviewStatus
    return { review: { reviewStatus: inFlight, reviewAnswer: null, rejectType: null, rejectLabels: [] }, known }
  }
  const type = field(result, 'reviewRejectType')
  const rejectType = answer === 'RED' && (type === 'RETRY' || type === 'FINAL') ? type : null
  const rejectLabels = answer === 'RED' ? texts(field(result, 'rejectLabels')) : []
  return { review: { reviewStatus, reviewAnswer: answer, rejectType, rejectLabels }, known }
}

/** Parses the state of an applicant with its result, its level and the time of a verdict. */
export function readDatedReview(state: unknown): DatedSumsubReview {
  const { review } = readReview(field(state, 'reviewStatus'), field(state, 'reviewResult'))
  const reviewedAt = review.reviewStatus === 'completed' ? parseTime(field(state, 'reviewDate')) : null
  return { review, reviewedAt, levelName: text(field(state, 'levelName')) }
}
