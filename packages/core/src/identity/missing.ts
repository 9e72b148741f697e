/**
 * Applicants that the provider says it does not know. That is as likely our own fault, a wrong tenant or environment, as a deletion: so it is asked
 * again, for a day unless a webhook told it, and nothing is believed while many are missing at once. Source: docs/decisions/identity.md.
 * @module
 */
import type { Store } from '../ports/store.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { VerdictEntry } from '../ports/store-verifications.js'
import type { Clock, Logger } from '../ports/world.js'
import { keepQuestion } from './look-up.js'
import { firstQuestionMs, inFlightMs, missingForMs, mostMissing, nextQuestionMs } from './question-times.js'

/** An applicant that is missing. */
export interface Missing {
  readonly accountId: string
  readonly applicantId: string
}

/** What this needs. */
export interface MissingDeps {
  readonly store: Pick<Store, 'transaction' | 'verifications'>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** Least applicants that are missing in one round, while fewer are known, to count as a fault of ours. */
const manyMissing = 3

/** Builds the judge of one round of questions. `known`: how many applicants the provider knew in it. */
export function createMissing({ store, clock, logger }: MissingDeps) {
  return async ({
    known,
    missing,
  }: {
    readonly known: number
    readonly missing: readonly Missing[]
  }): Promise<void> => {
    if (missing.length === 0) return
    const atOnce = await store.verifications.countMissing()
    const isFault = (missing.length >= manyMissing && missing.length > known) || atOnce > mostMissing
    if (isFault)
      logger.error(
        { missing: missing.length, known, atOnce },
        'The identity provider knows none of many applicants: check the tenant and the environment. Nothing is changed.',
      )
    for (const each of missing) await store.transaction((tx) => judge(tx, each, isFault))
  }

  async function judge(tx: StoreTransaction, { accountId, applicantId }: Missing, isFault: boolean): Promise<void> {
    const found = await tx.verifications.lock(accountId)
    if (found.applicantId !== applicantId) return
    const now = clock.now()
    const { since, told, confirmed } = found.missing ?? { since: now, told: false, confirmed: false }
    const note = (outcome: VerdictEntry['outcome']) =>
      tx.verifications.noteVerdict({
        ...{ notedAt: now, accountId, applicantId, source: 'question', news: 'missing' },
        ...{ at: null, review: null, outcome },
      })
    // A token's answer may be lost meanwhile: its look-up is not put off.
    const kept = await keepQuestion(tx, found, clock)
    if (confirmed) {
      // It may come back, when the fault was ours after all.
      const askInMs = nextQuestionMs({ reviewStatus: 'completed' }, now - since)
      await tx.verifications.change(accountId, { askInMs, ...kept })
      return
    }
    if (told || (!isFault && now - since >= missingForMs)) {
      logger.warn(
        { accountId, applicantId },
        'An applicant is gone at the identity provider; its donor may share again.',
      )
      await note('applied')
      await markGone(tx, accountId, { since, told, now })
      return
    }
    if (found.missing === null) await note('doubtful')
    if (!isFault) logger.error({ accountId, applicantId }, 'The identity provider does not know an applicant of ours.')
    const missing = { since, told, confirmed }
    await tx.verifications.change(accountId, {
      missing,
      askInMs: found.missing === null ? firstQuestionMs : inFlightMs,
      ...{ askUnless: 'due', ...kept },
    })
  }
}

/** Writes that an applicant is gone: there is nothing any more that its donor could not share anew. Its account is locked. */
export function markGone(
  tx: StoreTransaction,
  accountId: string,
  { since, told, now }: { readonly since: number; readonly told: boolean; readonly now: number },
): Promise<void> {
  return tx.verifications.change(accountId, {
    missing: { since, told, confirmed: true },
    ...{ review: null, reviewedAt: now, doubt: null, askInMs: inFlightMs },
  })
}
