/** Polls the provider for due names and reviews. Source: docs/interface.md 3; docs/decisions/identity.md. @module */
import type { DatedReview, Review } from '../ports/identity-provider.js'
import { logFailure } from './errors.js'
import type { Subject } from './identity-store.js'
import { applyLookUp, isOpen, judgeMissing, lookUp } from './look-up.js'
import {
  type IdentityParts,
  lockSubject,
  logOtherLevel,
  openLookUpMs,
  redemptionLeaseMs,
  repeatLookUpMs,
} from './redemption.js'
import {
  acceptedTime,
  begunReview,
  isDoubtful,
  isEqual,
  isOtherLevel,
  longestPollMs,
  nextPollMs,
  repeatPollMs,
} from './reviews.js'

/** Most look-ups and polls of one round: a fraction of the provider's 300 requests in 5 seconds. */
const mostPolled = 50
/** How long an event of the provider is stored, in milliseconds: longer than verdicts are polled. */
const rememberEventsMs = 40 * 24 * 60 * 60_000
/** Most events that one round deletes. */
const mostForgotten = 500

const longestWaits = { leaseMs: redemptionLeaseMs, lookUpMs: openLookUpMs, pollMs: longestPollMs }

/** One round. */
interface Round {
  isThrottled: boolean
  /** Number of applicants that the provider knew. */
  known: number
  readonly missing: Subject[]
}

/** Builds a round: it looks up due names and polls due reviews until the signal aborts. It resolves their number. */
export function createPollDue(parts: IdentityParts): (limit?: number, signal?: AbortSignal) => Promise<number> {
  const { store, provider, clock, logger } = parts

  return async (limit = mostPolled, signal) => {
    const round: Round = { isThrottled: false, known: 0, missing: [] }
    const ended = await store.identity.endFutureWaits(longestWaits)
    if (ended > 0)
      logger.warn({ ended }, 'verifications waited longer than any delay is: a clock was ahead; they are due now')
    const names = await store.identity.dueLookUps(limit)
    const reviews = names.length < limit ? await store.identity.duePolls(limit - names.length) : []
    const due = [
      ...names.map((each) => () => lookUpName(each.externalUserId, each.subjectId, round)),
      ...reviews.map((each) => () => pollReview(each.subjectId, round)),
    ]
    let polled = 0
    for (const each of due) {
      // More requests would prolong the throttling.
      if (round.isThrottled || signal?.aborted === true) break
      polled += 1
      await each()
    }
    await judgeMissing(round, parts)
    await store.identity.forgetEvents(Math.max(0, clock.now() - rememberEventsMs), mostForgotten)
    return polled
  }

  async function lookUpName(externalUserId: string, subjectId: string, round: Round): Promise<void> {
    const redemption = await store.transaction(async (tx) => {
      await lockSubject(tx, subjectId)
      const found = await tx.identity.redemption(externalUserId)
      const lookUpInMs = found !== null && isOpen(found.state) ? repeatLookUpMs : null
      // Not due for other processes now; due again if this process dies.
      await tx.identity.changeRedemption(externalUserId, { lookUpInMs })
      return lookUpInMs === null ? null : found
    })
    if (redemption === null) return
    const { answers, failure } = await lookUp(provider, [redemption], logger)
    if (failure?.kind === 'throttled') round.isThrottled = true
    for (const answer of answers) await store.transaction((tx) => applyLookUp(tx, answer, parts))
  }

  /** A change during the poll is newer than the answer, and stays. */
  async function pollReview(subjectId: string, round: Round): Promise<void> {
    const { attached, ...before } = await store.transaction(async (tx) => {
      const found = await lockSubject(tx, subjectId)
      const attached = found.applicantId === null ? null : await tx.identity.redemptionOf(found.applicantId)
      await tx.identity.changeVerification(subjectId, { pollInMs: found.applicantId === null ? null : repeatPollMs })
      return { ...found, revision: found.revision + 1, attached }
    })
    const { applicantId, revision } = before
    if (applicantId === null) return
    const polledAt = clock.now()
    const answer = await provider.review(applicantId)
    if (answer.kind !== 'answer') {
      logFailure(logger, answer, { applicantId })
      if (answer.kind === 'throttled') round.isThrottled = true
      return
    }
    if (answer.value === null) {
      round.missing.push(before)
      return
    }
    round.known += 1
    const polled = { ...answer.value, reviewedAt: acceptedTime(answer.value.reviewedAt, clock.now()) }
    const { review } = polled
    const isOther = attached !== null && isOtherLevel(attached.levelName, polled)
    const isNoted = isOther && (await isNewestNoted(before, review))
    await store.transaction(async (tx) => {
      const locked = await lockSubject(tx, subjectId)
      if (locked.revision !== revision) return
      const found = { ...locked, reviewedAt: acceptedTime(locked.reviewedAt, clock.now()) }
      const outcome = isOther ? 'other_level' : outcomeOf(found, polled)
      const isUnsure = outcome === 'doubtful'
      const change = found.missing === null ? 'review' : 'back'
      if ((outcome !== 'unchanged' && !isNoted) || change === 'back')
        await tx.identity.noteVerdict({
          ...{ notedAt: clock.now(), subjectId, applicantId, source: 'poll', change, at: polled.reviewedAt, review },
          outcome: outcome === 'unchanged' ? 'applied' : outcome,
        })
      if (isOther) {
        if (!isNoted) logOtherLevel(logger, { subjectId, applicantId }, polled, attached)
        const pollInMs = nextPollMs(found.review ?? begunReview, clock.now() - (found.reviewedAt ?? polledAt))
        await tx.identity.changeVerification(subjectId, { missing: null, pollInMs })
        return
      }
      // The provider's time if there is one; never earlier than the stored time.
      const otherwise = outcome === 'unchanged' ? (found.reviewedAt ?? polledAt) : polledAt
      const reviewedAt = Math.max(polled.reviewedAt ?? otherwise, found.reviewedAt ?? 0)
      await tx.identity.changeVerification(subjectId, {
        ...(isUnsure ? { doubt: review } : { review, reviewedAt, doubt: null }),
        ...{ missing: null, pollInMs: isUnsure ? repeatPollMs : nextPollMs(review, clock.now() - reviewedAt) },
      })
    })
  }

  /** Whether the newest record is the same review of another level: repeated polls add no records. */
  async function isNewestNoted({ id, emailKey }: Subject, review: Review): Promise<boolean> {
    if (emailKey === null) return false
    const [newest] = await store.identity.verdicts({ emailKey, limit: 1 })
    return newest?.subjectId === id && newest.outcome === 'other_level' && isEqual(newest.review, review)
  }
}

/** Whether an answer is unchanged, or must be confirmed by a second poll. */
function outcomeOf(found: Subject, { review, reviewedAt }: DatedReview): 'unchanged' | 'doubtful' | 'applied' {
  if (isEqual(found.review, review)) return 'unchanged'
  const isUnproven = isDoubtful({ at: reviewedAt, review }, { at: found.reviewedAt, review: found.review })
  return isUnproven && !isEqual(found.doubt, review) ? 'doubtful' : 'applied'
}
