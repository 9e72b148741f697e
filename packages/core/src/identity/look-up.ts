/** Looks up redemptions with an unknown outcome, by name. Source: docs/decisions/identity.md. @module */
import type { Applicant, IdentityProvider } from '../ports/identity-provider.js'
import type { RedemptionRecord, RedemptionState } from '../ports/store-identity.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { Logger } from '../ports/world.js'
import { attach } from './attach.js'
import { logFailure, type ProviderFailure } from './errors.js'
import {
  absentForMs,
  clockSkewMs,
  type IdentityParts,
  lockSubject,
  lostAnswerMs,
  openLookUpMs,
  redemptionLeaseMs,
  shareEntry,
} from './redemption.js'
import { isOtherLevel } from './reviews.js'

/** The provider's answer for one name. */
export interface LookedUp {
  readonly redemption: RedemptionRecord
  /** The applicant. `nobody`: none has the name. `foreign`: one that is older than the redemption has it. */
  readonly found: Applicant | 'nobody' | 'foreign'
}

/** The answers up to the first failure. */
export interface LookUpResult {
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
