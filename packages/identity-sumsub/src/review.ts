/** Where a verification stands, in the words of the contract. Source: docs/interface.md 2.5, 3. @module */
import type { ReviewStatus, ShareResponse } from '@payment-integration/contract'
import { field, text, texts } from './internal/json.js'
import { parseTime } from './internal/times.js'

/** A verification as the contract shows it. */
export type SumsubReview = Omit<ShareResponse, 'reused'>

/** A review, and when the provider gave it. */
export interface DatedSumsubReview {
  readonly review: SumsubReview
  /**
   * The provider's own time of a verdict in unix milliseconds, to the second; null for what is no verdict, or has no
   * time.
   */
  readonly reviewedAt: number | null
}

/**
 * What the provider calls each state, and what the contract calls it. The contract knows six of them, of which
 * `not_started` is the service's own. `queued` and `awaitingService` are the provider's own work; `awaitingUser` waits
 * for documents, as `init` does.
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

/** States that the provider documents. */
export const providerStatuses: readonly string[] = Object.keys(statuses)

/**
 * Reads a state with its result. Only `completed` has an answer, and only the answers GREEN and RED are any: whatever
 * is unknown is still in flight, and nothing unknown ever approves. `known` says whether the state is one that the
 * provider documents.
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
    // A completed check without an answer is not over: something is still to be decided.
    const inFlight = reviewStatus === 'completed' ? 'pending' : reviewStatus
    return { review: { reviewStatus: inFlight, reviewAnswer: null, rejectType: null, rejectLabels: [] }, known }
  }
  const type = field(result, 'reviewRejectType')
  const rejectType = answer === 'RED' && (type === 'RETRY' || type === 'FINAL') ? type : null
  const rejectLabels = answer === 'RED' ? texts(field(result, 'rejectLabels')) : []
  return { review: { reviewStatus, reviewAnswer: answer, rejectType, rejectLabels }, known }
}

/** Reads the state of an applicant with its result and the time of a verdict. */
export function readDatedReview(state: unknown): DatedSumsubReview {
  const { review } = readReview(field(state, 'reviewStatus'), field(state, 'reviewResult'))
  return { review, reviewedAt: review.reviewStatus === 'completed' ? parseTime(field(state, 'reviewDate')) : null }
}
