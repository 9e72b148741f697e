/** What the provider says of verifications by webhook. What it says when asked is in `questions.ts`. Source: INTERFACE 3, 6 (last sentence). @module */
import type { IdentityProvider, Review } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { RedemptionAttempt, VerdictEntry, Verification } from '../ports/store-verifications.js'
import type { Logger } from '../ports/world.js'
import { attach } from './attach.js'
import { clockSkewMs } from './claim-times.js'
import { keptBy } from './kept.js'
import { keepQuestion, misfitOf, strangeApplicant } from './look-up.js'
import { endOf, type HoldDeps, type Move } from './move-along.js'
import { compareNews, isDoubtful, turnsBack } from './order-news.js'
import { nextQuestionMs } from './question-times.js'
import { createQuestions } from './questions.js'

/** News of an applicant. */
export interface Verdict {
  /** The same for every copy. */
  readonly eventKey: string
  readonly applicantId: string
  readonly externalUserId: string | null
  /** The provider's time in unix milliseconds. */
  readonly at: number
  /** Where it stands; null: the event does not say. */
  readonly review: Review | null
  /** The level that the applicant is of; null or absent: the event does not say. */
  readonly levelName?: string | null | undefined
  /** What happened: the review moved on, or the applicant was switched off, on again, or deleted. @default 'review', 'deleted' without a review */
  readonly news?: 'review' | 'activated' | 'deactivated' | 'deleted' | undefined
}

/** What became of it: what is older than what is known, and what is doubtful, has the provider asked. */
export type VerdictOutcome = 'applied' | 'duplicate' | 'older' | 'doubtful' | 'unknown'

/** What this needs. */
export interface VerdictDeps extends HoldDeps {
  readonly store: Pick<Store, 'transaction' | 'verifications'>
  readonly provider: Pick<IdentityProvider, 'review' | 'find'>
  readonly logger: Logger
}

/** Applies news. */
export interface Verdicts {
  /**
   * Applies a webhook once. News of the applicant of an attempt whose end nobody knew attach it, for the integration of that attempt; news of an applicant that is
   * not the account's own change nothing; what is older than what is known neither.
   */
  apply(verdict: Verdict): Promise<VerdictOutcome>
  /** Asks the provider about those that are due, until the signal aborts. Resolves how many were asked about. */
  ask(limit?: number, signal?: AbortSignal): Promise<number>
}

/** Builds it. */
export function createVerdicts(deps: VerdictDeps): Verdicts {
  const { store, clock } = deps

  return {
    apply: (verdict) =>
      store.transaction(async (tx) => {
        const { externalUserId } = verdict
        const attempt = externalUserId === null ? null : await tx.verifications.redemption(externalUserId)
        const apply = (moves: readonly Move[]) => applyIn(tx, verdict, moves)
        return attempt === null || isOver(attempt) ? apply([]) : endOf(tx, await keptBy(tx, attempt), deps, apply)
      }),
    ask: createQuestions(deps),
  }

  async function applyIn(tx: StoreTransaction, verdict: Verdict, moves: readonly Move[]): Promise<VerdictOutcome> {
    const named = await tx.verifications.lockByApplicant(verdict)
    if (named === null) return 'unknown'
    const { verification: found, attempt } = named
    if (found.applicantId !== verdict.applicantId) return attachByNews(tx, attempt, verdict, moves)
    if (!(await tx.verifications.noteEvent(verdict.eventKey, verdict.at))) return 'duplicate'
    const outcome = await applyNews(tx, found, verdict)
    await note(tx, found.accountId, verdict, outcome)
    return outcome
  }

  /** News of an applicant that is not attached prove that its token was redeemed. */
  async function attachByNews(
    tx: StoreTransaction,
    attempt: RedemptionAttempt | null,
    verdict: Verdict,
    moves: readonly Move[],
  ): Promise<VerdictOutcome> {
    const { applicantId, review, at, levelName } = verdict
    // The end of an applicant that was not attached says nothing of the one that is.
    if (attempt === null || isOver(attempt) || review === null || !['review', 'activated'].includes(newsOf(verdict)))
      return 'unknown'
    // What was there before the attempt is no work of it.
    if (at < attempt.claimedAt - clockSkewMs) return 'unknown'
    // As where it is looked up: an operator must say.
    const misfit = misfitOf(attempt, { levelName })
    if (misfit !== null) {
      deps.logger.error({ externalUserId: attempt.externalUserId, applicantId, misfit }, strangeApplicant)
      return 'unknown'
    }
    if (!(await tx.verifications.noteEvent(verdict.eventKey, at))) return 'duplicate'
    const applicant = { applicantId, review, reviewedAt: at }
    const attachment = { attempt, applicant, outcome: 'attached', source: 'webhook' } as const
    const { isAttached } = await attach(tx, attachment, deps, moves)
    return isAttached ? 'applied' : 'unknown'
  }

  async function applyNews(
    tx: StoreTransaction,
    found: Verification,
    verdict: Verdict,
  ): Promise<'applied' | 'older' | 'doubtful'> {
    const { accountId, presence } = found
    const { at, review } = verdict
    const news = newsOf(verdict)
    const askNow = () => tx.verifications.change(accountId, { askInMs: 0 })
    if (news === 'deleted') {
      // One who deletes by mistake, or in another environment, is not believed: asking settles it.
      const missing = {
        since: found.missing?.since ?? clock.now(),
        told: true,
        confirmed: found.missing?.confirmed ?? false,
      }
      await tx.verifications.change(accountId, { missing, askInMs: 0 })
      return 'applied'
    }
    if (news !== 'review') {
      if (presence !== null && presence.at >= at) {
        await askNow()
        return 'older'
      }
      await tx.verifications.change(accountId, { presence: { isActive: news === 'activated', at } })
    }
    return review === null ? 'applied' : applyReview(tx, found, { at, review })
  }

  async function applyReview(
    tx: StoreTransaction,
    found: Verification,
    { at, review }: { readonly at: number; readonly review: Review },
  ): Promise<'applied' | 'older' | 'doubtful'> {
    const { accountId, review: known, reviewedAt } = found
    const dated = { at: reviewedAt, review: known }
    const isOlder = compareNews({ at, review }, dated) < 0
    // The clocks of two machines may disagree, and a verdict without a time may be newer: asking settles it.
    if (isOlder || isDoubtful({ at, review }, dated)) {
      await tx.verifications.change(accountId, { askInMs: 0 })
      return isOlder ? 'older' : 'doubtful'
    }
    const isUnsure = at === reviewedAt || turnsBack(known, review)
    const askInMs = isUnsure ? 0 : nextQuestionMs(review, clock.now() - at)
    const asked = { askInMs, ...(await keepQuestion(tx, found, clock)) }
    await tx.verifications.change(accountId, { review, reviewedAt: at, doubt: null, missing: null, ...asked })
    return 'applied'
  }

  function note(
    tx: StoreTransaction,
    accountId: string,
    verdict: Verdict,
    outcome: VerdictEntry['outcome'],
  ): Promise<void> {
    const { applicantId, at, review } = verdict
    return tx.verifications.noteVerdict({
      ...{ notedAt: clock.now(), accountId, applicantId, source: 'webhook', news: newsOf(verdict) },
      ...{ at, review, outcome },
    })
  }
}

/** Whether nothing that is heard ends an attempt any more. */
function isOver({ state }: RedemptionAttempt): boolean {
  return state === 'attached' || state === 'surplus' || state === 'foreign'
}

function newsOf({ news, review }: Verdict): NonNullable<Verdict['news']> {
  return news ?? (review === null ? 'deleted' : 'review')
}
