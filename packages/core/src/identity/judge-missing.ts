/** Judges applicants that the provider does not know. Source: docs/decisions/identity-provider.md. @module */
import type { MissingApplicant, Subject, VerificationChange } from '../ports/store-identity.js'
import { type IdentityParts, lockSubject } from './redemption.js'
import { firstPollMs, inFlightPollMs, nextPollMs } from './reviews.js'

/** How long an applicant must be missing, in milliseconds, before it counts as gone although no webhook reported it. */
export const missingForMs = 24 * 60 * 60_000
/** Most applicants that may be missing at a time for one to count as gone: with more the fault is likely ours. */
export const mostMissing = 5
/** Least applicants that are missing in one round, while fewer are known, to count as a fault of ours. */
const manyMissing = 3

/** What one round of polls came to. */
export interface MissingRound {
  /** How many applicants the provider knew. */
  readonly known: number
  /** Subjects whose applicant it did not know, as they were when it was asked. */
  readonly missing: readonly Subject[]
}

/**
 * Judges a round. A wrong tenant or environment looks like a deletion. So a missing applicant is polled for a day more,
 * unless a webhook reported its deletion. None counts as gone while many are missing at once.
 */
export async function judgeMissing(
  { known, missing }: MissingRound,
  { store, clock, logger }: Omit<IdentityParts, 'provider'>,
): Promise<void> {
  if (missing.length === 0) return
  const atOnce = await store.identity.countMissing()
  const isFault = (missing.length >= manyMissing && missing.length > known) || atOnce > mostMissing
  if (isFault)
    logger.error(
      { missing: missing.length, known, atOnce },
      'The identity provider knows none of many applicants: check the tenant and the environment. Nothing is changed.',
    )
  for (const before of missing) await store.transaction((tx) => judge(tx, before))

  async function judge(tx: Parameters<typeof lockSubject>[0], before: Subject): Promise<void> {
    const { id, applicantId, revision, missing: noted } = await lockSubject(tx, before.id)
    // What was heard while the provider answered is newer.
    if (applicantId === null || revision !== before.revision) return
    const now = clock.now()
    const { since, reported, confirmed } = noted ?? { since: now, reported: false, confirmed: false }
    if (confirmed) {
      // It may come back, when the fault was ours after all.
      const pollInMs = nextPollMs({ reviewStatus: 'completed' }, now - since)
      await tx.identity.changeVerification(id, { pollInMs })
      return
    }
    const isGone = reported || (!isFault && now - since >= missingForMs)
    if (isGone)
      logger.warn({ subjectId: id, applicantId }, 'An applicant is gone at the provider; its donor may share again.')
    else if (!isFault)
      logger.error({ subjectId: id, applicantId }, 'The identity provider does not know an applicant of ours.')
    if (isGone || noted === null)
      await tx.identity.noteVerdict({
        ...{ notedAt: now, subjectId: id, applicantId, source: 'poll', change: 'missing', at: null, review: null },
        outcome: isGone ? 'applied' : 'doubtful',
      })
    const pollInMs = noted === null ? firstPollMs : inFlightPollMs
    const missing = { since, reported, confirmed }
    await tx.identity.changeVerification(id, isGone ? gone(missing, now) : { missing, pollInMs })
  }
}

/** What changes of the verification of an applicant that is gone: its donor may share anew, and nobody else. */
export function gone({ since, reported }: MissingApplicant, now: number): VerificationChange {
  const missing = { since, reported, confirmed: true }
  return { missing, review: null, reviewedAt: now, doubt: null, pollInMs: inFlightPollMs }
}
