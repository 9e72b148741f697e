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

/** Builds it. */
export function createVerdicts({ store, provider, clock, logger }: VerdictDeps): Verdicts {
  async function write(
    tx: StoreTransaction,
    found: Verification,
    applicantId: string,
    review: Review | null,
    at: number,
  ) {
    const { accountId, claim } = found
    if (review === null) {
      await tx.verifications.change(accountId, {
        donor: null,
        applicantId: null,
        review: null,
        reviewedAt: at,
        askInMs: null,
      })
      return
    }
    // News of an applicant whose redemption is still waited for proves that it was redeemed.
    const attached =
      found.applicantId === applicantId || claim === null ? {} : { donor: claim.by, applicantId, claim: null }
    const askInMs = nextQuestionMs(review, clock.now() - at)
    await tx.verifications.change(accountId, { ...attached, review, reviewedAt: at, askInMs })
  }

  return {
    apply: ({ eventKey, applicantId, externalUserId, at, review }) =>
      store.transaction(async (tx) => {
        const found = await tx.verifications.lockByApplicant({ applicantId, externalUserId })
        if (found === null) return 'unknown'
        if (!(await tx.verifications.noteEvent(eventKey, at))) return 'duplicate'
        const isCurrent = found.applicantId === applicantId
        if (isCurrent && found.reviewedAt !== null && at < found.reviewedAt) {
          // The clocks of two machines may disagree: asking settles it.
          await tx.verifications.change(found.accountId, { askInMs: 0 })
          return 'older'
        }
        await write(tx, found, applicantId, review, at)
        return 'applied'
      }),

    async ask(limit = mostAsked) {
      const due = await store.verifications.dueForQuestion(limit)
      for (const { accountId, applicantId } of due) {
        const askedAt = clock.now()
        const answer = await provider.review(applicantId)
        await store.transaction(async (tx) => {
          const found = await tx.verifications.lock(accountId)
          if (found.applicantId !== applicantId) return
          if (answer.kind !== 'answer') await tx.verifications.change(accountId, { askInMs: 60_000 })
          else await write(tx, found, applicantId, answer.value, Math.max(askedAt, found.reviewedAt ?? 0))
        })
        if (answer.kind === 'misconfigured')
          logger.error({ applicantId }, 'The identity provider refuses the service itself.')
      }
      return due.length
    },
  }
}
