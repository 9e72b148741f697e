/** What counts for a person, and what a share decides: rules 2 a to f as a pure function. @module */
import type { Review } from '../../../src/ports/identity.js'
import type { RedemptionView, ShareOutcome, SubjectView, View } from '../system-under-test.js'
import { getSubject, type OwnedSubject } from './ownership.js'

export const justBegun: Review = { reviewStatus: 'init', reviewAnswer: null, rejectType: null, rejectLabels: [] }
export const notStarted: Review = { ...justBegun, reviewStatus: 'not_started' }

/** What a share does in a state: it answers, asks the provider by these names first, or redeems its token. */
export type Decision =
  | { readonly kind: 'answer'; readonly outcome: ShareOutcome }
  | { readonly kind: 'lookUp'; readonly names: readonly string[] }
  | { readonly kind: 'redeem' }

export const isRejected = (review: Review | undefined) =>
  review?.reviewStatus === 'completed' && review.reviewAnswer === 'RED'
export const isApproved = (review: Review | undefined) =>
  review?.reviewStatus === 'completed' && review.reviewAnswer === 'GREEN'
export const isOpen = ({ state }: RedemptionView) =>
  state === 'in_flight' || state === 'unknown' || state === 'unresolved'
export const leaseRuns = (redemption: RedemptionView, now: number) =>
  isOpen(redemption) && redemption.leaseUntil !== null && now < redemption.leaseUntil
export const getReview = (subject: SubjectView): Review => subject.review?.review ?? justBegun

/** The answer with its fields in one order, so that equal answers are equal texts. */
export function answered(review: Review, reused: boolean): ShareOutcome {
  const { reviewStatus, reviewAnswer, rejectType, rejectLabels } = review
  return { kind: 'answered', reused, reviewStatus, reviewAnswer, rejectType, rejectLabels: [...rejectLabels] }
}

/** The subjects of the person to whom that subject belongs. */
export function getPerson(view: View, subject: OwnedSubject): SubjectView[] {
  return view.subjects.filter(({ id, accountId }) =>
    subject.accountId === null ? id === subject.id : accountId === subject.accountId,
  )
}

export function getRedemptions(view: View, subjects: readonly SubjectView[]): RedemptionView[] {
  return view.redemptions.filter(({ subjectId }) => subjects.some(({ id }) => id === subjectId))
}

/** Every subject whose verification may count: more than one only if two were attached at the same time. */
export function getResolved(view: View, subject: OwnedSubject): (SubjectView | null)[] {
  const open = view.subjects.find(({ id }) => id === subject.id)
  if (open?.donor != null) return [open]
  const shared = getPerson(view, subject).filter(({ donor }) => donor !== null)
  if (shared.length === 0) return [null]
  const last = Math.max(...shared.map(({ attachedAt }) => attachedAt ?? 0))
  return shared.filter(({ attachedAt }) => (attachedAt ?? 0) === last)
}

/** What a share may do in that state at that time: one decision, but for ties. */
export function decisions(view: View, now: number, address: string, integration: string): Decision[] {
  const subject = getSubject(view, address)
  const conflict: Decision = { kind: 'answer', outcome: { kind: 'conflict' } }
  if (view.direct.some(({ accountId }) => accountId === subject.accountId)) return [conflict]
  const redemptions = getRedemptions(view, getPerson(view, subject)).filter(isOpen)
  const inFlight = redemptions.filter((redemption) => leaseRuns(redemption, now))
  return getResolved(view, subject).map((resolved): Decision => {
    if (resolved !== null && resolved.donor !== integration) return conflict
    if (inFlight.length > 0) {
      const isLost = inFlight.some((one) => one.integration === integration && one.state !== 'in_flight')
      if (isLost) return { kind: 'answer', outcome: { kind: 'unavailable' } }
      return {
        kind: 'answer',
        outcome: answered(resolved === null || resolved.gone ? notStarted : getReview(resolved), false),
      }
    }
    if (redemptions.length > 0)
      return { kind: 'lookUp', names: redemptions.map(({ externalUserId }) => externalUserId) }
    if (resolved === null || resolved.gone || isRejected(resolved.review?.review)) return { kind: 'redeem' }
    return { kind: 'answer', outcome: answered(getReview(resolved), false) }
  })
}
