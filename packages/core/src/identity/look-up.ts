/** Looks up redemptions with an unknown outcome, by name. Source: docs/decisions/identity.md. @module */

import type { Applicant, IdentityProvider } from '../ports/identity-provider.js'
import type { StoreTransaction } from '../ports/store.js'
import type { Logger } from '../ports/world.js'
import { logFailure, type ProviderFailure } from './errors.js'
import type {
  MissingApplicant,
  RedemptionRecord,
  RedemptionState,
  Subject,
  VerificationChange,
} from './identity-store.js'
import {
  absentForMs,
  attach,
  clockSkewMs,
  type IdentityParts,
  lockSubject,
  lostAnswerMs,
  openLookUpMs,
  redemptionLeaseMs,
  shareEntry,
} from './redemption.js'
import { firstPollMs, inFlightPollMs, isOtherLevel, nextPollMs } from './reviews.js'

/** How long an applicant is missing before it counts as gone without a webhook, in milliseconds. */
export const missingForMs = 24 * 60 * 60_000
/** Most applicants missing at once for one to count as gone. With more, the fault is likely ours. */
export const mostMissing = 5
/** From this many missing applicants in a round, if fewer are known, the fault counts as ours. */
const manyMissing = 3

/** The result of one round of polls. */
interface MissingRound {
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

/** The provider's answer for one name. */
interface LookedUp {
  readonly redemption: RedemptionRecord
  /** The applicant. `nobody`: none has the name. `foreign`: one that is older than the redemption has it. */
  readonly found: Applicant | 'nobody' | 'foreign'
}

/** The answers up to the first failure. */
interface LookUpResult {
  readonly answers: readonly LookedUp[]
  readonly failure: Exclude<ProviderFailure, { kind: 'rejected' }> | null
}

/**
 * Looks up each name at the provider and checks the answers. It writes nothing.
 * @param integrationAddress - The integration whose request waits; absent: the service's own poll.
 */
export async function lookUp(
  provider: Pick<IdentityProvider, 'find'>,
  redemptions: readonly RedemptionRecord[],
  logger: Logger,
  integrationAddress?: string,
): Promise<LookUpResult> {
  const answers: LookedUp[] = []
  for (const redemption of redemptions) {
    const { externalUserId } = redemption
    const answer = await provider.find(externalUserId, integrationAddress)
    if (answer.kind !== 'answer') {
      logFailure(logger, answer, { externalUserId })
      return { answers, failure: answer }
    }
    const misfit = answer.value === null ? null : misfitOf(redemption, answer.value)
    if (misfit !== null && answer.value !== null) logMisfit(logger, externalUserId, answer.value, misfit)
    if (misfit === 'level') return { answers, failure: { kind: 'misconfigured', reason: 'another level' } }
    answers.push({ redemption, found: misfit === 'age' ? 'foreign' : (answer.value ?? 'nobody') })
  }
  return { answers, failure: null }
}

/** Why an applicant cannot come from a redemption, or null. */
export function misfitOf(
  { startedAt, levelName }: Pick<RedemptionRecord, 'startedAt' | 'levelName'>,
  applicant: Pick<Applicant, 'createdAt' | 'levelName'>,
): 'age' | 'level' | null {
  const { createdAt = null } = applicant
  if (createdAt !== null && createdAt < startedAt - clockSkewMs) return 'age'
  return isOtherLevel(levelName, applicant) ? 'level' : null
}

/** Logs that an unknown applicant has a name of this service. */
export function logMisfit(
  logger: Pick<Logger, 'error'>,
  externalUserId: string,
  { applicantId }: Pick<Applicant, 'applicantId'>,
  misfit: 'age' | 'level',
): void {
  logger.error({ externalUserId, applicantId, misfit }, 'External user id is taken by an unknown applicant.')
}

/** Whether the provider may still answer an applicant of a redemption. */
export function isOpen(state: RedemptionState): boolean {
  return state === 'in_flight' || state === 'unknown' || state === 'unresolved' || state === 'absent'
}

/** Writes the result of a look-up. A redemption that was resolved meanwhile is unchanged. */
export async function applyLookUp(
  tx: StoreTransaction,
  { redemption, found }: LookedUp,
  deps: Pick<IdentityParts, 'clock' | 'logger'>,
): Promise<void> {
  const { externalUserId, subjectId } = redemption
  await lockSubject(tx, subjectId)
  const now = await tx.identity.redemption(externalUserId)
  if (now === null || !isOpen(now.state)) return
  if (typeof found === 'object') {
    await attach(tx, { redemption, applicant: found, outcome: 'found', source: 'look_up' }, deps)
    return
  }
  const ageMs = deps.clock.now() - redemption.startedAt
  // Its token may still land: the name is looked up again after the lease.
  if (redemption.isLeased) {
    const leftMs = Math.min(redemptionLeaseMs, Math.max(lostAnswerMs, redemptionLeaseMs - ageMs))
    await tx.identity.changeRedemption(externalUserId, { lookUpInMs: leftMs })
    return
  }
  const state = found === 'foreign' ? 'foreign' : unseenState(now)
  const lookUpInMs = state === 'foreign' || (state === 'absent' && ageMs >= absentForMs) ? null : openLookUpMs
  await tx.identity.changeRedemption(externalUserId, { state, lookUpInMs })
  if (state === now.state) return
  if (state === 'unresolved')
    deps.logger.error(
      { externalUserId },
      'The outcome of a redemption cannot be looked up: an operator must resolve it.',
    )
  await tx.identity.logShare(shareEntry(deps.clock.now(), redemption, state))
}

/** Where applicants cannot be found by name, an empty look-up proves nothing. */
function unseenState({ state, isFindable }: RedemptionRecord): 'absent' | 'unresolved' {
  return state === 'absent' || isFindable ? 'absent' : 'unresolved'
}
