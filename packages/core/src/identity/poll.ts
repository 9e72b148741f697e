/** Polls reviews, and looks up redemptions of unknown outcome. Source: docs/decisions/identity.md. @module */
import type { DatedReview, Review } from '../ports/identity.js'
import { logFailure, stopWithSignal } from './checked-provider.js'
import type { IdentitySubject, MissingApplicant, RedemptionRecord, VerificationChange } from './identity-store.js'
import {
  absentLookUpMs,
  type IdentityParts,
  lockSubject,
  lookUpRedemptions,
  mayHaveApplicant,
  otherLevelMessage,
  redemptionLeaseMs,
  retryLookUpMs,
} from './redemption.js'
import {
  computeNextPollMs,
  discardFutureTime,
  firstPollMs,
  inFlightPollMs,
  initialReview,
  isDoubtful,
  isOtherLevel,
  isSameReview,
  maxPollMs,
  retryPollMs,
} from './reviews.js'

/** How long an applicant is missing until it counts as gone without a webhook, in milliseconds. */
export const missingUntilGoneMs = 24 * 60 * 60_000
/** With more missing applicants than this, the fault is likely ours, and only reported ones count as gone. */
export const maxMissingAtOnce = 5
/** From this many missing applicants in a round, the fault counts as ours if they outnumber the known ones. */
const minMissingForFault = 3

/**
 * Judges the missing applicants of a round. A wrong tenant or environment looks like a deletion, so a missing applicant
 * is polled for another day, unless a webhook reported the deletion. While many are missing at once, only a reported
 * one counts as gone.
 */
async function judgeMissing({ knownCount, missing }: Round, { store, clock, logger }: IdentityParts): Promise<void> {
  if (missing.length === 0) return
  const missingCount = await store.identity.countMissing()
  const isMajority = missing.length >= minMissingForFault && missing.length > knownCount
  const isFault = isMajority || missingCount > maxMissingAtOnce
  const counts = { missing: missing.length, known: knownCount, atOnce: missingCount }
  if (isFault)
    logger.error(counts, 'The identity provider does not know many applicants: check the tenant and the environment.')
  for (const before of missing)
    await store.transaction(async (tx) => {
      const { id, applicantId, revision, missing: noted } = await lockSubject(tx, before.id)
      // A change during the poll is newer than the poll's answer.
      if (applicantId === null || revision !== before.revision) return
      const now = clock.now()
      const { since, reported, confirmed } = noted ?? { since: now, reported: false, confirmed: false }
      // Still polled: the applicant comes back if the fault was ours.
      if (confirmed) {
        const pollInMs = computeNextPollMs({ reviewStatus: 'completed' }, now - since)
        return tx.identity.changeVerification(id, { pollInMs })
      }
      const isGone = reported || (!isFault && now - since >= missingUntilGoneMs)
      if (isGone)
        logger.warn({ subjectId: id, applicantId }, 'An applicant is gone at the provider; its donor may share again.')
      else if (!isFault)
        logger.error({ subjectId: id, applicantId }, 'The identity provider does not know an attached applicant.')
      const outcome = isGone ? 'applied' : 'doubtful'
      const report = { source: 'poll', change: 'missing', at: null, review: null, outcome } as const
      if (isGone || noted === null)
        await tx.identity.recordVerdict({ notedAt: now, subjectId: id, applicantId, ...report })
      const pollInMs = noted === null ? firstPollMs : inFlightPollMs
      const missing = { since, reported, confirmed }
      await tx.identity.changeVerification(id, isGone ? markGone(missing, now) : { missing, pollInMs })
    })
}

/** Marks an applicant as gone: its donor alone may share again. */
export function markGone({ since, reported }: MissingApplicant, now: number): VerificationChange {
  const missing = { since, reported, confirmed: true }
  return { missing, review: null, reviewedAt: now, doubt: null, pollInMs: inFlightPollMs }
}

/** The most look-ups and polls of one round; the provider allows far more: 300 requests in 5 seconds. */
const maxPolls = 50
/** How long an event of the provider is stored, in milliseconds: longer than verdicts are polled. */
const eventRetentionMs = 40 * 24 * 60 * 60_000
const maxForgotten = 500

const longestWaits = { leaseMs: redemptionLeaseMs, lookUpMs: absentLookUpMs, pollMs: maxPollMs }

type RedemptionName = Pick<RedemptionRecord, 'externalUserId' | 'subjectId'>

interface Round {
  readonly provider: IdentityParts['provider']
  isThrottled: boolean
  knownCount: number
  /** Subjects whose applicant the provider did not know, as they were at the poll. */
  readonly missing: IdentitySubject[]
}

/** Builds the loop body: look up due redemptions, poll due reviews. Resolves the number of calls to the provider. */
export function createPollDue(parts: IdentityParts): (signal?: AbortSignal) => Promise<number> {
  const { store, clock, logger } = parts

  return async (signal) => {
    const provider = signal === undefined ? parts.provider : stopWithSignal(parts.provider, signal)
    const round: Round = { provider, isThrottled: false, knownCount: 0, missing: [] }
    const ended = await store.identity.resetOverlongWaits(longestWaits)
    if (ended > 0)
      logger.warn({ ended }, 'Verifications waited longer than any delay: a clock was ahead. They are due now.')
    const lookUps = await store.identity.dueLookUps(maxPolls)
    const reviews = lookUps.length < maxPolls ? await store.identity.duePolls(maxPolls - lookUps.length) : []
    let polled = 0
    for (const due of [...lookUps, ...reviews]) {
      // More requests would prolong the throttling.
      if (round.isThrottled || signal?.aborted === true) break
      polled += 1
      await ('externalUserId' in due ? lookUpApplicant(due, round) : pollReview(due, round))
    }
    await judgeMissing(round, parts)
    await store.identity.forgetEvents(Math.max(0, clock.now() - eventRetentionMs), maxForgotten)
    return polled
  }

  async function lookUpApplicant({ externalUserId, subjectId }: RedemptionName, round: Round): Promise<void> {
    const redemption = await store.transaction(async (tx) => {
      await lockSubject(tx, subjectId)
      const record = await tx.identity.redemption(externalUserId)
      const lookUpInMs = record !== null && mayHaveApplicant(record.state) ? retryLookUpMs : null
      // Rounds that begin from now on skip the redemption; its look-up is due again if this process dies.
      await tx.identity.changeRedemption(externalUserId, { lookUpInMs })
      return lookUpInMs === null ? null : record
    })
    if (redemption === null) return
    const failure = await lookUpRedemptions({ ...parts, provider: round.provider }, [redemption])
    if (failure?.kind === 'throttled') round.isThrottled = true
  }

  /** Polls one review. A change during the poll is newer than the answer, and stays. */
  async function pollReview({ subjectId }: Pick<RedemptionName, 'subjectId'>, round: Round): Promise<void> {
    const { attached, ...before } = await store.transaction(async (tx) => {
      const stored = await lockSubject(tx, subjectId)
      const attached = stored.applicantId === null ? null : await tx.identity.findAttachedRedemption(stored.applicantId)
      await tx.identity.changeVerification(subjectId, { pollInMs: stored.applicantId === null ? null : retryPollMs })
      return { ...stored, revision: stored.revision + 1, attached }
    })
    const { applicantId, revision } = before
    if (applicantId === null) return
    const polledAt = clock.now()
    const answer = await round.provider.review(applicantId)
    if (answer.kind !== 'answer') {
      logFailure(logger, answer, { applicantId })
      if (answer.kind === 'throttled') round.isThrottled = true
      return
    }
    if (answer.value === null) {
      round.missing.push(before)
      return
    }
    round.knownCount += 1
    const polled = { ...answer.value, reviewedAt: discardFutureTime(answer.value.reviewedAt, clock.now()) }
    const { review } = polled
    const hasOtherLevel = attached !== null && isOtherLevel(attached.levelName, polled)
    const isNoted = hasOtherLevel && (await isNewestNoted(before, review))
    await store.transaction(async (tx) => {
      const locked = await lockSubject(tx, subjectId)
      if (locked.revision !== revision) return
      const now = clock.now()
      const subject = { ...locked, reviewedAt: discardFutureTime(locked.reviewedAt, now) }
      const outcome = hasOtherLevel ? 'other_level' : decideOutcome(subject, polled)
      const change = subject.missing === null ? 'review' : 'back'
      const report = { source: 'poll', change, at: polled.reviewedAt, review } as const
      const recorded = outcome === 'unchanged' ? 'applied' : outcome
      if ((outcome !== 'unchanged' && !isNoted) || change === 'back')
        await tx.identity.recordVerdict({ notedAt: now, subjectId, applicantId, ...report, outcome: recorded })
      const levels = { levelName: polled.levelName, attachedLevel: attached?.levelName }
      if (hasOtherLevel && !isNoted) logger.warn({ subjectId, applicantId, ...levels }, otherLevelMessage)
      const knownAt = subject.reviewedAt ?? polledAt
      // The provider's time if there is one; never earlier than the stored time.
      const fallbackAt = outcome === 'unchanged' ? knownAt : polledAt
      const reviewedAt = Math.max(polled.reviewedAt ?? fallbackAt, subject.reviewedAt ?? 0)
      const applied = { review, reviewedAt, doubt: null, pollInMs: computeNextPollMs(review, now - reviewedAt) }
      const changes = {
        applied,
        unchanged: applied,
        doubtful: { doubt: review, pollInMs: retryPollMs },
        other_level: { pollInMs: computeNextPollMs(subject.review ?? initialReview, now - knownAt) },
      }
      await tx.identity.changeVerification(subjectId, { ...changes[outcome], missing: null })
    })
  }

  /** Whether the newest record is this review of another level: repeated polls add no records. */
  async function isNewestNoted({ id, emailKey }: IdentitySubject, review: Review): Promise<boolean> {
    if (emailKey === null) return false
    const [newest] = await store.identity.verdicts({ emailKey, limit: 1 })
    return newest?.subjectId === id && newest.outcome === 'other_level' && isSameReview(newest.review, review)
  }
}

/** Decides whether a polled review is unchanged, needs a second poll (`doubtful`) or is applied. */
function decideOutcome(subject: IdentitySubject, polled: DatedReview): 'unchanged' | 'doubtful' | 'applied' {
  if (isSameReview(subject.review, polled.review)) return 'unchanged'
  return isDoubtful(polled, subject) && !isSameReview(subject.doubt, polled.review) ? 'doubtful' : 'applied'
}
