/**
 * Asking the provider: what became of tokens whose answer was lost, and where a verification stands, for the webhook that never came.
 * Source: INTERFACE 3; DESIGN section 3 (identity provider).
 * @module
 */
import type { Answer, DatedReview, IdentityProvider } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { RedemptionAttempt, Verification, VerificationChange } from '../ports/store-verifications.js'
import type { Logger } from '../ports/world.js'
import { isAsItWas } from './as-it-was.js'
import { attach } from './attach.js'
import { keptAt } from './kept.js'
import { logRefusal } from './log-refusal.js'
import { doubtfulAttempts, endAbsent, keepQuestion, lookUp } from './look-up.js'
import { createMissing, type Missing } from './missing.js'
import { endOf, type HoldDeps } from './move-along.js'
import { isDoubtful, isEqual } from './order-news.js'
import { againMs, inFlightMs, nextQuestionMs, rememberEventsMs, soonest } from './question-times.js'

/** What this needs. */
export interface QuestionDeps extends HoldDeps {
  readonly store: Pick<Store, 'transaction' | 'verifications'>
  readonly provider: Pick<IdentityProvider, 'review' | 'find'>
  readonly logger: Logger
}

/** Most accounts of one round: a fraction of the provider's 300 requests in 5 seconds. */
const mostAsked = 50
/** Most events that one round forgets. */
const mostForgotten = 500

/** One round of questions. */
interface Round {
  isThrottled: boolean
  /** Applicants that the provider knows. */
  known: number
  readonly missing: Missing[]
}

/** Builds the questions: a function that asks about accounts that are due, and resolves how many it asked about. */
export function createQuestions(deps: QuestionDeps): (limit?: number, signal?: AbortSignal) => Promise<number> {
  const { store, provider, clock, logger } = deps
  const judge = createMissing(deps)

  return async (limit = mostAsked, signal) => {
    const round: Round = { isThrottled: false, known: 0, missing: [] }
    let asked = 0
    for (const { accountId } of await store.verifications.dueForQuestion(limit)) {
      // Who is throttled makes it worse by asking on.
      if (round.isThrottled || signal?.aborted === true) break
      asked += 1
      await askAbout(accountId, round)
    }
    await judge(round)
    await store.verifications.forgetEvents(Math.max(0, clock.now() - rememberEventsMs), mostForgotten)
    return asked
  }

  async function askAbout(accountId: string, round: Round): Promise<void> {
    const begun = await store.transaction(async (tx) => {
      const found = await tx.verifications.lock(accountId)
      const doubtful = await doubtfulAttempts(tx, found, clock)
      const isOpen = found.applicantId !== null || found.claim !== null || doubtful.length > 0
      // Whoever else asks meanwhile finds that it is not due, and when this process dies it will be.
      await tx.verifications.change(accountId, { askInMs: isOpen ? againMs : null })
      return { found, doubtful }
    })
    const { found, doubtful } = begun
    if (doubtful.length > 0 && !(await settle(found, doubtful, round))) return
    if (doubtful.length === 0 && found.claim?.lapsed === true) await endIdle(found)
    if (found.applicantId !== null) await askReview(found, found.applicantId, doubtful, round)
  }

  /** Looks up attempts whose end nobody knows. Resolves whether the account's own applicant may be asked about. */
  async function settle(before: Verification, doubtful: readonly RedemptionAttempt[], round: Round): Promise<boolean> {
    const { accountId } = before
    const looked = await lookUp(provider, doubtful, logger)
    if (looked.kind === 'failed') return noteFailure(looked.refusal, round)
    if (looked.kind === 'found') {
      const found = { ...looked, outcome: 'found', source: 'look_up' } as const
      await store.transaction(async (tx) =>
        endOf(tx, await keptAt(tx, before, [looked.attempt]), deps, (moves) => attach(tx, found, deps, moves)),
      )
      return false
    }
    await store.transaction(async (tx) =>
      endOf(tx, await keptAt(tx, before, doubtful), deps, async () => {
        const { claim } = await tx.verifications.lock(accountId)
        const mayLand = before.claim !== null && !before.claim.lapsed
        // Who took the claim over meanwhile looks for itself.
        if (mayLand || claim?.token !== before.claim?.token) return
        const isSettled = await endAbsent(tx, doubtful, looked.foreign, deps)
        const over = isSettled ? { claim: null } : {}
        await tx.verifications.change(accountId, { ...over, askInMs: inFlightMs, askUnless: 'due' })
      }),
    )
    return true
  }

  /** Ends the claim of a process that died before it sent anything: nobody else would, where the address is another account's by now. */
  async function endIdle(before: Verification): Promise<void> {
    const { accountId } = before
    await store.transaction(async (tx) =>
      endOf(tx, await keptAt(tx, before, []), deps, async () => {
        const { claim } = await tx.verifications.lock(accountId)
        if (claim?.token === before.claim?.token) await tx.verifications.change(accountId, { claim: null })
      }),
    )
  }

  /** Asks where it stands. What was written while the provider answered is newer than the answer, and stays. */
  async function askReview(
    before: Verification,
    applicantId: string,
    doubtful: readonly RedemptionAttempt[],
    round: Round,
  ): Promise<void> {
    const { accountId } = before
    const askedAt = clock.now()
    const answer = await provider.review(applicantId)
    if (answer.kind !== 'answer') {
      logRefusal(logger, answer, { applicantId })
      noteFailure(answer, round)
      return
    }
    if (answer.value === null) {
      round.missing.push({ accountId, applicantId })
      return
    }
    round.known += 1
    const said = answer.value
    const alsoInMs = doubtful.length === 0 ? null : before.claim?.lapsed === false ? againMs : inFlightMs
    await store.transaction(async (tx) => {
      const found = await tx.verifications.lock(accountId)
      if (found.applicantId !== applicantId || !isAsItWas(found, before)) return
      const outcome = outcomeOf(found, said)
      if (outcome !== 'confirmed' || found.missing !== null)
        await tx.verifications.noteVerdict({
          ...{ notedAt: clock.now(), accountId, applicantId, source: 'question' },
          ...{ news: found.missing === null ? 'review' : 'back', at: said.reviewedAt, review: said.review },
          outcome: outcome === 'doubtful' ? outcome : 'applied',
        })
      if (outcome === 'doubtful') {
        await tx.verifications.change(accountId, { doubt: said.review, missing: null, ...next(againMs) })
        return
      }
      const reviewedAt = timeOf(found, said, outcome === 'confirmed' ? (found.reviewedAt ?? askedAt) : askedAt)
      const askInMs = soonest(nextQuestionMs(said.review, clock.now() - reviewedAt), alsoInMs)
      const known = { review: said.review, reviewedAt, doubt: null, missing: null }
      const asked = { ...next(askInMs), ...(await keepQuestion(tx, found, clock)) }
      await tx.verifications.change(accountId, { ...known, ...asked })
    })
  }

  function noteFailure(refusal: Exclude<Answer<unknown>, { kind: 'answer' }>, round: Round): false {
    if (refusal.kind === 'throttled') round.isThrottled = true
    return false
  }
}

/** When it is asked next. Whoever had it asked at once while the provider answered has doubts that the answer may be too old to settle. */
function next(askInMs: number | null): Pick<VerificationChange, 'askInMs' | 'askUnless'> {
  return { askInMs, askUnless: 'due' }
}

/** Whether an answer says what is known, or something else; or what must be said twice to be believed. */
function outcomeOf(
  { review, reviewedAt, doubt }: Verification,
  said: DatedReview,
): 'confirmed' | 'doubtful' | 'applied' {
  if (isEqual(review, said.review)) return 'confirmed'
  const isDoubted = isDoubtful({ at: said.reviewedAt, review: said.review }, { at: reviewedAt, review })
  return isDoubted && !isEqual(doubt, said.review) ? 'doubtful' : 'applied'
}

/** The time of an answer: the provider's own where it says so, and never before what is known. What is confirmed keeps its time. */
function timeOf({ reviewedAt }: Verification, said: DatedReview, otherwise: number): number {
  return Math.max(said.reviewedAt ?? otherwise, reviewedAt ?? 0)
}
