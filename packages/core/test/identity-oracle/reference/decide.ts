/** The decision of a share in the reference, in one transaction: rule 2. @module */
import type { Review } from '../../../src/ports/identity-provider.js'
import type { ShareCall, ShareOutcome } from '../system-under-test.js'
import { holderOf } from './owners.js'
import { isUnsettled, makeSubject, openSubject, personOf, redemptionsOf, type Store, type Subject } from './store.js'

export type Step =
  | { readonly kind: 'answer'; readonly outcome: ShareOutcome }
  | { readonly kind: 'lookUp'; readonly names: readonly string[] }
  | { readonly kind: 'redeem'; readonly subject: Subject; readonly former: Review | null }

const leaseMs = 120_000
const nothing: Review = { reviewStatus: 'not_started', reviewAnswer: null, rejectType: null, rejectLabels: [] }
export const init: Review = { ...nothing, reviewStatus: 'init' }
export const answer = (review: Review, reused: boolean): ShareOutcome => ({ kind: 'answered', reused, ...review })

export function decide(store: Store, { address, integration }: ShareCall, now: number, nextId: () => string): Step {
  const { mutant } = store
  const isHolder = mutant !== 'a share of a known address makes no subject of its holder'
  const holder = isHolder ? holderOf(store, address) : undefined
  const subject =
    openSubject(store, address) ??
    makeSubject(store, nextId(), address, holder?.accountId ?? null, holder?.verified ?? false)
  const say = (outcome: ShareOutcome): Step => ({ kind: 'answer', outcome })
  const hasDirect = subject.accountId !== null && store.direct.has(subject.accountId)
  if (hasDirect && mutant !== 'a direct verification is ignored') return say({ kind: 'conflict' })

  const shared = personOf(store, subject).filter(({ donor }) => donor !== null)
  shared.sort((a, b) => (b.attachedAt ?? 0) - (a.attachedAt ?? 0))
  if (mutant === 'the first verification counts') shared.reverse()
  const isPreferred = subject.donor !== null && mutant !== 'the open subject is not preferred'
  const resolved = isPreferred ? subject : shared[0]
  const review = resolved === undefined ? nothing : (resolved.review?.review ?? init)
  const isForeign = resolved !== undefined && resolved.donor !== integration
  if (isForeign)
    return say(
      mutant === 'the status of a foreign verification is answered' ? answer(review, false) : { kind: 'conflict' },
    )

  const others = mutant === 'redemptions of other subjects are ignored' ? [subject] : personOf(store, subject)
  const open = redemptionsOf(store, others).filter(isUnsettled)
  const running = open.filter(({ leaseUntil }) => now < leaseUntil && mutant !== 'a lease ends at once')
  if (running.length > 0 && mutant !== 'a redemption in flight is ignored') {
    const isLost = running.some((one) => one.integration === integration && one.state !== 'in_flight')
    const isUnavailable = isLost && mutant !== 'a lost answer is answered as in flight'
    // Nothing is shown of an applicant that is gone.
    const shown = resolved?.gone === true ? nothing : review
    return say(isUnavailable ? { kind: 'unavailable' } : answer(shown, false))
  }
  const asked = open.filter(
    ({ state, leaseUntil }) =>
      !(mutant === 'an unresolved redemption counts as absent' && state === 'unresolved') &&
      !(mutant === 'a redemption in flight is ignored' && now < leaseUntil),
  )
  if (asked.length > 0 && mutant !== 'a second token is redeemed without a look-up')
    return { kind: 'lookUp', names: asked.map(({ externalUserId }) => externalUserId) }
  const isRejected = review.reviewAnswer === 'RED' && mutant !== 'a rejection is final'
  const isGone = resolved?.gone === true && mutant !== 'an applicant that is gone counts for ever'
  const isKept = resolved !== undefined && !isRejected && !isGone
  if (isKept && mutant !== 'a token is consumed though approved') return say(answer(review, false))
  const isAnyFormer = mutant === 'a 422 tells the verdict of another subject'
  const isFormer = (isAnyFormer || subject.donor === integration) && review.reviewAnswer === 'RED'
  if (mutant === 'a fresh token after a rejection goes to the rejected subject' && isRejected && resolved)
    return { kind: 'redeem', subject: resolved, former: review }
  return { kind: 'redeem', subject, former: isFormer ? review : null }
}

export function begin(store: Store, subject: Subject, integration: string, now: number, name: string): void {
  store.redemptions.push({
    ...{ externalUserId: name, subjectId: subject.id, integration, leaseUntil: now + leaseMs },
    ...{ state: 'in_flight', applicantId: null, nextPollAt: now + leaseMs },
  })
}
