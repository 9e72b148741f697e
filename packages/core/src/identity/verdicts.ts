/** What the provider says of verifications: by webhook, and when asked. Source: INTERFACE 3, 6 (last sentence). @module */
import type { IdentityProvider, Review } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { Verification } from '../ports/store-verifications.js'
import type { Clock, Logger } from '../ports/world.js'
import { nextQuestionMs } from './question-times.js'

/** News of an applicant. */
export interface Verdict {
  /** The same for every copy. */
  readonly eventKey: string
  readonly applicantId: string
  readonly externalUserId: string | null
  /** The provider's time in unix milliseconds. */
  readonly at: number
  /** Where it stands; null: there is no such applicant any more. */
  readonly review: Review | null
}

/** What became of it. */
export type VerdictOutcome = 'applied' | 'duplicate' | 'older' | 'unknown'

/** What this needs. */
export interface VerdictDeps {
  readonly store: Pick<Store, 'transaction' | 'verifications'>
  readonly provider: Pick<IdentityProvider, 'review'>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** Applies news. */
export interface Verdicts {
  /** Applies a webhook once. News of an applicant that is not the account's own changes nothing; what is older than what is known neither. */
  apply(verdict: Verdict): Promise<VerdictOutcome>
  /** Asks the provider about those that are due. Resolves how many were asked. */
  ask(limit?: number): Promise<number>
}

/** Most applicants of one round of questions: a fraction of the provider's 300 requests in 5 seconds. */
const mostAsked = 50
/** When a question without an answer is asked again, in milliseconds. */
const againMs = 60_000

/** Builds it. */
export function createVerdicts({ store, provider, clock, logger }: VerdictDeps): Verdicts {
  async function write(
    tx: StoreTransaction,
    found: Verification,
    { applicantId, review, at }: Pick<Verdict, 'applicantId' | 'review' | 'at'>,
    askInMs?: number,
  ): Promise<void> {
    const { accountId, claim } = found
    if (review === null) {
      const nothing = { donor: null, applicantId: null, review: null, reviewedAt: at, askInMs: null }
      await tx.verifications.change(accountId, nothing)
      return
    }
    // News of an applicant whose redemption is still waited for proves that it was redeemed.
    const attached =
      found.applicantId === applicantId || claim === null ? {} : { donor: claim.by, applicantId, claim: null }
    const next = askInMs ?? nextQuestionMs(review, clock.now() - at)
    await tx.verifications.change(accountId, { ...attached, review, reviewedAt: at, askInMs: next })
  }

  /** Asks about one. What was written while the provider answered is newer than the answer, and stays. */
  async function askAbout(accountId: string, applicantId: string): Promise<void> {
    const before = await store.transaction(async (tx) => {
      const found = await tx.verifications.lock(accountId)
      if (found.applicantId !== applicantId) return null
      // Whoever else asks meanwhile finds that it is not due, and when this process dies it will be.
      await tx.verifications.change(accountId, { askInMs: againMs })
      return found
    })
    if (before === null) return
    const askedAt = clock.now()
    const answer = await provider.review(applicantId)
    if (answer.kind === 'misconfigured')
      logger.error({ applicantId }, 'The identity provider refuses the service itself.')
    if (answer.kind !== 'answer') return
    const review = answer.value
    await store.transaction(async (tx) => {
      const found = await tx.verifications.lock(accountId)
      const isSame = found.applicantId === applicantId && found.reviewedAt === before.reviewedAt
      if (!isSame || !isEqual(found.review, before.review)) return
      // What is confirmed keeps its time: how long it is asked about counts from there.
      const since = isEqual(found.review, review) ? (found.reviewedAt ?? askedAt) : askedAt
      await write(tx, found, { applicantId, review, at: Math.max(since, found.reviewedAt ?? 0) })
    })
  }

  return {
    apply: ({ eventKey, applicantId, externalUserId, at, review }) =>
      store.transaction(async (tx) => {
        const found = await tx.verifications.lockByApplicant({ applicantId, externalUserId })
        if (found === null) return 'unknown'
        const isCurrent = found.applicantId === applicantId
        // The end of an applicant that was not attached says nothing of the one that is.
        if (!isCurrent && review === null) return 'unknown'
        if (!(await tx.verifications.noteEvent(eventKey, at))) return 'duplicate'
        const known = isCurrent ? found : { reviewedAt: null, review: null }
        const order = compareNews({ at, review }, { at: known.reviewedAt, review: known.review })
        if (order < 0) {
          // The clocks of two machines may disagree: asking settles it.
          await tx.verifications.change(found.accountId, { askInMs: 0 })
          return 'older'
        }
        const isDoubtful = at === known.reviewedAt || turnsBack(known.review, review)
        await write(tx, found, { applicantId, review, at }, isDoubtful && review !== null ? 0 : undefined)
        return 'applied'
      }),

    async ask(limit = mostAsked) {
      const due = await store.verifications.dueForQuestion(limit)
      for (const { accountId, applicantId } of due) await askAbout(accountId, applicantId)
      return due.length
    },
  }
}

/** Whether a verdict became none: news that were late say so too. */
function turnsBack(before: Review | null, after: Review | null): boolean {
  return before?.reviewStatus === 'completed' && after !== null && after.reviewStatus !== 'completed'
}

interface News {
  readonly at: number | null
  readonly review: Review | null
}

/** Negative: the news are older than what is known. Of two at one time the worse one counts, so that the order of arrival never does. */
function compareNews(news: News, known: News): number {
  if (known.at === null || news.at === null) return 1
  if (news.at !== known.at) return news.at - known.at
  const [one, other] = [weightOf(news.review), weightOf(known.review)]
  return one === other ? 0 : one < other ? -1 : 1
}

/** Text that sorts by how bad a review is. */
function weightOf(review: Review | null): string {
  const { reviewStatus, reviewAnswer } = review ?? {}
  const weight = reviewStatus !== 'completed' ? 0 : reviewAnswer === 'GREEN' ? 1 : 2
  return `${review === null ? 3 : weight} ${JSON.stringify(fieldsOf(review))}`
}

function isEqual(one: Review | null, other: Review | null): boolean {
  return JSON.stringify(fieldsOf(one)) === JSON.stringify(fieldsOf(other))
}

function fieldsOf(review: Review | null): readonly unknown[] | null {
  return review && [review.reviewStatus, review.reviewAnswer, review.rejectType, review.rejectLabels]
}
