/** The states and results of identity verification, in words. @module */
import type { CloseRequest, CloseResult, ResolveResult } from '@payment-integration/core/identity'
import type { RedemptionRecord, SubjectView, VerdictRecord } from '@payment-integration/core/ports'

/** Whether an operator may resolve a redemption: its outcome is unknown, and no lease runs. */
export function mayResolve({ state, isLeased }: RedemptionRecord): boolean {
  return state === 'unresolved' || ((state === 'unknown' || state === 'in_flight') && !isLeased)
}

/** The state of a verification that an operator may close; null: none. */
export function closableOf({ presence, missing }: SubjectView): CloseRequest['what'] | null {
  if (missing?.confirmed === false) return 'missing'
  return presence?.isActive === false && missing === null ? 'hold' : null
}

/** Whether a report about an applicant counted. */
export const verdictWords: Readonly<Record<VerdictRecord['outcome'], string>> = {
  applied: 'applied',
  older: 'older than the stored one',
  doubtful: 'doubtful',
  surplus: 'of a surplus applicant',
  other_level: 'of another level',
}

/** A review in the provider's words. */
export function reviewOf({ review }: Pick<SubjectView, 'review'>): string {
  if (review === null) return 'none'
  const { reviewStatus, reviewAnswer, rejectType, rejectLabels } = review
  return [reviewStatus, reviewAnswer, rejectType, ...rejectLabels].filter((each) => each !== null).join(' ')
}

/** The relation of the account to the address. */
export function ownershipOf({ emailKey, accountId, proved, closed }: SubjectView): string {
  if (emailKey === null) return 'no address'
  if (closed) return 'given up'
  if (accountId === null) return 'placeholder'
  return proved ? 'proved' : 'carried'
}

/** Why a redemption was not resolved. */
export const unresolvedWords: Readonly<Record<Exclude<ResolveResult, 'attached' | 'surplus' | 'absent'>, string>> = {
  not_open: 'No redemption of that name has an unknown outcome without a lease.',
  unknown_applicant: 'The provider knows no such applicant.',
  of_another_subject: 'That applicant belongs to another subject.',
  of_another_redemption: 'That applicant is attached to this subject by another redemption.',
}

/** Why a verification is not closed, or would not be. */
export const unclosedWords: Readonly<Record<Exclude<CloseResult, 'closed'>, string>> = {
  nothing_to_close: 'The verification is neither on hold nor missing.',
  known: 'The provider knows the applicant. The next poll that finds it by its id ends the wait.',
  name_taken: 'Another applicant has its name at the provider. The log names that applicant; look at it there.',
  missing: 'The provider does not know the applicant. Close the wait for it first.',
  unknown: 'The provider does not know the applicant.',
  other_review: "The provider's review differs from the stored one. It is polled at once; try again later.",
  unproven:
    'The provider knows no other applicant of that time, or no redemption is stored. Check its tenant and environment.',
  changed: 'The verification changed meanwhile; try again.',
}
