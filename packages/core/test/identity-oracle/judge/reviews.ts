/** What is attached to a subject, and its verdicts: rules 6 and 7. @module */
import type { DatedReview } from '../../../src/ports/identity.js'
import type { SubjectView, View, WebhookEvent } from '../system-under-test.js'
import { type Case, type Change, demand, type Watched } from './case.js'
import { answered, getReview, justBegun } from './person.js'
import { getRow, getState } from './redemptions.js'

/** How far a verdict may be ahead of the service's clock. */
const aheadMs = 300_000
const unheard: DatedReview = { review: justBegun, reviewedAt: null }
const text = (review: DatedReview | null) => JSON.stringify(review)

export function judgeReviews(known: Case, change: Change): void {
  const { before, after } = change
  const addresses = after.subjects.filter(({ closed }) => !closed).map(({ address }) => address)
  demand(new Set(addresses).size === addresses.length, () => `an address has two open subjects: ${addresses}`)
  for (const subject of after.subjects) {
    const was = before.subjects.find(({ id }) => id === subject.id)
    judgeAttached(known, subject, was, change)
    if (was?.applicantId === subject.applicantId) judgeReview(known, subject, was, change)
    for (const begun of known.begun.values()) {
      if (begun.subjectId !== subject.id || getRow(after, begun.externalUserId)?.applicantId !== subject.applicantId)
        continue
      if (subject.applicantId !== null) begun.told.add(JSON.stringify(answered(getReview(subject), true)))
    }
  }
}

function judgeAttached(known: Case, subject: SubjectView, was: SubjectView | undefined, { after, now }: Change): void {
  const attached = [...known.begun.values()].filter(
    ({ subjectId, externalUserId }) => subjectId === subject.id && getState(after, externalUserId) === 'attached',
  )
  const newest = attached.at(-1)
  const applicantId = newest === undefined ? null : (getRow(after, newest.externalUserId)?.applicantId ?? null)
  const isRight = subject.applicantId === applicantId && subject.donor === (newest?.integration ?? null)
  demand(isRight, () => `subject ${subject.id} has ${subject.applicantId} of ${subject.donor}, and not ${applicantId}`)
  if (applicantId === null || was?.applicantId === applicantId) return
  const earliest = Math.min(now, ...[...known.watched.keys()].map(({ calledAt }) => calledAt))
  const at = subject.attachedAt ?? 0
  demand(earliest <= at && at <= now, () => `subject ${subject.id} says it was attached at ${subject.attachedAt}`)
  demand(!subject.gone, () => `a new applicant is gone: ${applicantId}`)
  const { review } = subject
  const isOfProvider =
    review === null ||
    history(known, applicantId).some((one) => isSame(one, review)) ||
    isUndated(known, applicantId, review, now)
  demand(isOfProvider, () => `the provider never gave ${applicantId} the review ${text(review)}`)
  judgeAhead(review, now)
}

function judgeReview(known: Case, subject: SubjectView, was: SubjectView, { now }: Change): void {
  const { applicantId, review } = subject
  demand(was.attachedAt === subject.attachedAt, () => `subject ${subject.id} is attached at another time`)
  if (was.gone && !subject.gone) {
    // A verdict that is given later shows that the provider knows the applicant after all.
    const isLater = (review?.reviewedAt ?? 0) >= (known.goneAt.get(applicantId ?? '') ?? now)
    demand(isLater, () => `${applicantId} comes back by an older verdict: ${text(review)}`)
  } else if (was.gone !== subject.gone) {
    known.goneAt.set(applicantId ?? '', now)
    const applicant = [...known.provider.applicants.values()].find((one) => one.applicantId === applicantId)
    const isTold = known.provider.calls.some(
      ({ kind, name: of, answer }) =>
        kind !== 'redeem' && (of === applicantId || of === applicant?.externalUserId) && isNobody(answer),
    )
    demand(subject.gone && applicant?.deleted === true && isTold, () => `${applicantId} is not known to be gone`)
  }
  // Nothing is shown of an applicant that is gone.
  if (text(was.review) === text(review) || (subject.gone && review === null)) return
  const say = () => `the review of ${applicantId} must not become ${text(review)} after ${text(was.review)}`
  demand(applicantId !== null && review !== null, say)
  const before = was.review?.reviewedAt ?? null
  if (isUndated(known, applicantId, review, now) && (review.reviewedAt ?? 0) >= (before ?? 0)) return
  const isGiven = history(known, applicantId).some((one) => isSame(one, review))
  demand(isGiven, say)
  const isLater = before === null || (review.reviewedAt !== null && review.reviewedAt > before)
  // Of two at one time the worse one counts: one that was dated ahead may have the time of the verdict before it.
  const isTied = review.reviewedAt === before && was.review !== null && isUndated(known, applicantId, was.review, now)
  demand(isLater || isTied, say)
  judgeAhead(review, now)
}

function judgeAhead(review: DatedReview | null, now: number): void {
  const isAhead = (review?.reviewedAt ?? 0) > now + aheadMs
  demand(!isAhead, () => `a verdict that is too far ahead was applied: ${text(review)}`)
}
/**
 * Whether it is a verdict that the provider answered, dated ahead of the clock: it was asked, so the verdict counts, by
 * the time of the answer. It has none where it comes with its applicant.
 */
function isUndated(known: Case, applicantId: string, { review, reviewedAt }: DatedReview, now: number): boolean {
  const name = [...known.provider.applicants.values()].find((one) => one.applicantId === applicantId)?.externalUserId
  return known.provider.calls.some(({ kind, name: of, answer, signedAt }) => {
    if (kind === 'redeem' || (of !== applicantId && of !== name) || answer?.kind !== 'answer') return false
    const told = answer.value
    const isAhead = (told?.reviewedAt ?? 0) > signedAt + aheadMs
    return (
      isAhead &&
      (reviewedAt ?? 0) <= now + aheadMs &&
      isSame({ review, reviewedAt: null }, { review: told?.review ?? justBegun, reviewedAt: null })
    )
  })
}
const isNobody = (answer: { readonly kind: string; readonly value?: unknown } | null) =>
  answer?.kind === 'answer' && answer.value === null
const isSame = (one: DatedReview, other: DatedReview) =>
  JSON.stringify(answered(one.review, true)) === JSON.stringify(answered(other.review, true)) &&
  one.reviewedAt === other.reviewedAt
function history(known: Case, applicantId: string): readonly DatedReview[] {
  return [...known.provider.applicants.values()].find((one) => one.applicantId === applicantId)?.reviews ?? []
}

/** Nothing is left over once faults are healed and polls ran: rule 10. */
export function judgeHealed(known: Case, view: View): void {
  for (const { externalUserId, state } of view.redemptions) {
    const isLeft = state === 'in_flight' || state === 'unknown' || state === 'unresolved'
    demand(!isLeft, () => `redemption ${externalUserId} is ${state} for ever`)
  }
  for (const subject of view.subjects) {
    const applicant = [...known.provider.applicants.values()].find((one) => one.applicantId === subject.applicantId)
    if (applicant === undefined || applicant.deleted) continue
    const newest = applicant.reviews.at(-1)
    const isNewest = newest !== undefined && isSame(newest, subject.review ?? unheard)
    demand(isNewest, () => `subject ${subject.id} has ${text(subject.review)}, the provider ${text(newest ?? null)}`)
  }
}

/** An event that was accepted has counted: rule 7. @param after - The state when the webhook answered. */
export function judgeWebhook(known: Case, watched: Watched, event: WebhookEvent, after: View): void {
  const { operation, first, isAlone } = watched
  const { key, applicantId, externalUserId, at } = event
  const isFirst = !known.accepted.has(key) && at <= operation.calledAt + aheadMs
  known.accepted.add(key)
  if (!isFirst) return
  const isLeft = [first, after].every((view) => getState(view, externalUserId) === 'unresolved')
  demand(!isLeft, () => `${key} names the unresolved redemption ${externalUserId}, which stays so`)
  const [had, has] = [first, after].map((view) => view.subjects.find((subject) => subject.applicantId === applicantId))
  // What is older than the answer that an applicant is gone brings nothing back.
  if (had === undefined || has === undefined || has.gone) return
  // A verdict that the provider answered, dated ahead, counts without its time: an approval after such a rejection
  // waits for a poll.
  const { review, reviewedAt } = has.review ?? {}
  if (review?.reviewStatus === 'completed' && reviewedAt === null) return
  const [before, now] = [had.review?.reviewedAt ?? 0, has.review?.reviewedAt ?? 0]
  demand(now >= at, () => `${key} was accepted and did not count`)
  if (isAlone && now === at && before < at) known.counted.add(key)
}
