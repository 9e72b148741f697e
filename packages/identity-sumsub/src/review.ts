/** Maps a review of the provider to the contract. Source: docs/interface.md 2.5, 3. @module */
import type { ReviewStatus, ShareResponse } from '@payment-integration/contract'
import { field, text, texts } from './internal/json.js'
import { parseTime } from './internal/times.js'

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
