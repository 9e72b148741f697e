/** How redemptions end and verdicts arrive in the reference: rules 6, 7 and 9. @module */
import type { DatedReview } from '../../../src/ports/identity-provider.js'
import type { OperatorOutcome, WebhookEvent } from '../system-under-test.js'
import { isUnsettled, openSubject, type RedemptionRow, type Store, type Subject, subjectById } from './store.js'

const minute = 60_000
const hour = 60 * minute
export const aheadMs = 5 * minute
/** Time from one poll of a review to the next. */
const pollPlan = [10 * minute, hour, hour, hour] as const

export function attach(store: Store, name: string, applicantId: string, review: DatedReview | null, now: number): void {
  const row = store.redemptions.find(({ externalUserId }) => externalUserId === name)
  if (row === undefined || row.state === 'attached' || row.state === 'surplus') return
  row.applicantId = applicantId
  const own = subjectById(store, row.subjectId)
  const isMoved = store.mutant === 'a late answer goes to the new owner' && own !== undefined
  const subject = isMoved ? openSubject(store, own.address) : own
  if (subject === undefined) return
  const newer = store.redemptions.slice(store.redemptions.indexOf(row) + 1)
  const isNewerThere = newer.some(({ subjectId, state }) => subjectId === subject.id && state === 'attached')
  const isForeign = subject.donor !== null && subject.donor !== row.integration
  if ((isNewerThere || isForeign) && store.mutant !== 'a surplus applicant is attached') {
    row.state = 'surplus'
    return
  }
  row.state = 'attached'
  Object.assign(subject, { donor: row.integration, applicantId, attachedAt: now, review: null, gone: false })
  Object.assign(subject, { nextPollAt: now + pollPlan[0], polls: 0 })
  if (review !== null) apply(store, subject, review, now)
}

/** A verdict counts when it is newer than the known one; without a time it counts until the first verdict. */
export function apply(store: Store, subject: Subject, review: DatedReview, now: number): void {
  const known = subject.review?.reviewedAt ?? null
  const isAhead = (review.reviewedAt ?? 0) > now + aheadMs
  if (isAhead && store.mutant !== 'a verdict of the future is applied') return
  const isNewer = known === null || (review.reviewedAt !== null && review.reviewedAt > known)
  const isUntimed = review.reviewedAt === null && store.mutant === 'a verdict without a time replaces one with a time'
  if (isNewer || isUntimed || store.mutant === 'an older verdict is applied') subject.review = review
}

export function end(store: Store, name: string, state: 'absent' | 'unknown' | 'unresolved', nextPollAt = 0): void {
  const row = store.redemptions.find(({ externalUserId }) => externalUserId === name)
  if (row === undefined || !isUnsettled(row)) return
  Object.assign(row, { state, nextPollAt })
}

export const schedule = (subject: Subject, now: number) => {
  subject.polls += 1
  subject.nextPollAt = now + (pollPlan[subject.polls] ?? 24 * hour)
}

export function webhook(store: Store, event: WebhookEvent, now: number): void {
  if (store.events.has(event.key) && store.mutant !== 'an event counts twice') return
  if (event.at > now + aheadMs && store.mutant !== 'a verdict of the future is applied') return
  const review = { review: event.review, reviewedAt: event.at }
  const { externalUserId, applicantId } = event
  if (store.mutant !== 'a webhook resolves nothing') attach(store, externalUserId, applicantId, review, now)
  const subject = store.subjects.find((one) => one.applicantId === applicantId)
  if (subject === undefined || (subject.closed && store.mutant === 'verdicts reach open subjects only')) return
  store.events.add(event.key)
  apply(store, subject, review, now)
}

/** An operator decides only what nobody knows and what can arrive no more. */
export function operatorResolves(store: Store, name: string, applicantId: string | null, now: number): OperatorOutcome {
  const row = store.redemptions.find(({ externalUserId }) => externalUserId === name)
  const isAny = store.mutant === 'an operator replaces what is attached'
  if (row === undefined || !(isAny || mayDecide(row, now))) return { kind: 'refused' }
  if (applicantId === null) row.state = 'absent'
  else attach(store, name, applicantId, null, now)
  return { kind: row.state as OperatorOutcome['kind'] }
}
const mayDecide = (row: RedemptionRow, now: number) => isUnsettled(row) && now >= row.leaseUntil
