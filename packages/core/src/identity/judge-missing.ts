/** Decides when a missing applicant counts as gone. Source: docs/decisions/identity-provider.md. @module */
import type { MissingApplicant, Subject, VerificationChange } from '../ports/store-identity.js'
import { type IdentityParts, lockSubject } from './redemption.js'
import { firstPollMs, inFlightPollMs, nextPollMs } from './reviews.js'

/** How long an applicant is missing before it counts as gone without a webhook, in milliseconds. */
export const missingForMs = 24 * 60 * 60_000
/** Most applicants missing at once for one to count as gone. With more, the fault is likely ours. */
export const mostMissing = 5
/** From this many missing applicants in a round, if fewer are known, the fault counts as ours. */
const manyMissing = 3

/** The result of one round of polls. */
export interface MissingRound {
  /** Number of applicants that the provider knew. */
  readonly known: number
  /** Subjects whose applicant it did not know, as they were at the poll. */
  readonly missing: readonly Subject[]
}

/**
 * Judges a round. A wrong tenant or environment looks like a deletion. So a missing applicant is polled for another
 * day, unless a webhook reported its deletion. While many are missing at once, none counts as gone.
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
      'The identity provider does not know many applicants: check the tenant and the environment. Nothing is changed.',
    )
  for (const before of missing) await store.transaction((tx) => judge(tx, before))

  async function judge(tx: Parameters<typeof lockSubject>[0], before: Subject): Promise<void> {
    const { id, applicantId, revision, missing: noted } = await lockSubject(tx, before.id)
    // A change during the poll is newer.
    if (applicantId === null || revision !== before.revision) return
    const now = clock.now()
    const { since, reported, confirmed } = noted ?? { since: now, reported: false, confirmed: false }
    if (confirmed) {
      // If the fault was ours after all, the applicant comes back.
      const pollInMs = nextPollMs({ reviewStatus: 'completed' }, now - since)
      await tx.identity.changeVerification(id, { pollInMs })
      return
    }
    const isGone = reported || (!isFault && now - since >= missingForMs)
    if (isGone)
      logger.warn({ subjectId: id, applicantId }, 'An applicant is gone at the provider; its donor may share again.')
    else if (!isFault)
      logger.error({ subjectId: id, applicantId }, 'The identity provider does not know an attached applicant.')
    if (isGone || noted === null)
      await tx.identity.noteVerdict({
        ...{ notedAt: now, subjectId: id, applicantId, source: 'poll', change: 'missing', at: null, review: null },
        outcome: isGone ? 'applied' : 'doubtful',
      })
    const pollInMs = noted === null ? firstPollMs : inFlightPollMs
    const missing = { since, reported, confirmed }
    await tx.identity.changeVerification(id, isGone ? confirmMissing(missing, now) : { missing, pollInMs })
  }
}

/** The verification of a gone applicant: its donor alone may share again. */
export function confirmMissing({ since, reported }: MissingApplicant, now: number): VerificationChange {
  const missing = { since, reported, confirmed: true }
  return { missing, review: null, reviewedAt: now, doubt: null, pollInMs: inFlightPollMs }
}
