/**
 * Looking up what became of tokens that may have been sent: under each name that an attempt had. Source: DESIGN section 3 (identity provider), 5.4.
 * @module
 */
import type { Answer, Applicant, IdentityProvider } from '../ports/identity-provider.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type {
  RedemptionAttempt,
  RedemptionState,
  Verification,
  VerificationChange,
} from '../ports/store-verifications.js'
import type { Clock, Logger } from '../ports/world.js'
import { logAttempt } from './attempt-log.js'
import { absentForMs, clockSkewMs, mostLookedUp } from './claim-times.js'
import { logRefusal } from './log-refusal.js'

/** What the log says of an applicant that cannot be the one that an attempt made. */
export const strangeApplicant = 'A name of ours belongs to an applicant that no attempt of ours made.'

/** What a look-up came to. */
export type LookedUp =
  /** The oldest attempt that was redeemed, with its applicant. */
  | { readonly kind: 'found'; readonly attempt: RedemptionAttempt; readonly applicant: Applicant }
  /** Nobody has any of the names, but for those whose applicant is older than the attempt. */
  | { readonly kind: 'none'; readonly foreign: ReadonlySet<string> }
  | { readonly kind: 'failed'; readonly refusal: Exclude<Answer<unknown>, { kind: 'answer' }> }

/**
 * The attempts of a locked account that may have been redeemed although nobody knows, oldest first. Of many that are absent the newest few are among them: that
 * they were not redeemed is known already.
 */
export async function doubtfulAttempts(
  tx: StoreTransaction,
  { accountId, attempt }: Verification,
  clock: Pick<Clock, 'now'>,
): Promise<RedemptionAttempt[]> {
  const absentSince = Math.max(0, clock.now() - absentForMs)
  const newest = await tx.verifications.doubtfulRedemptions({
    accountId,
    afterNumber: attempt ?? 0,
    absentSince,
    limit: mostLookedUp,
  })
  return newest.sort((one, other) => one.number - other.number)
}

/**
 * What is added to a change of the time of the next question: while a token may have been redeemed although nobody knows, the provider is asked no later
 * than it was to be for that.
 */
export async function keepQuestion(
  tx: StoreTransaction,
  { accountId, attempt, attempts, claim }: Pick<Verification, 'accountId' | 'attempt' | 'attempts' | 'claim'>,
  clock: Pick<Clock, 'now'>,
): Promise<Pick<VerificationChange, 'askUnless'>> {
  if (claim !== null) return { askUnless: 'sooner' }
  if (attempts <= (attempt ?? 0)) return {}
  // Those that are absent come last.
  const newest = { accountId, afterNumber: attempt ?? 0, absentSince: clock.now(), limit: 1 }
  const [doubtful] = await tx.verifications.doubtfulRedemptions(newest)
  return doubtful === undefined || doubtful.state === 'absent' ? {} : { askUnless: 'sooner' }
}

/**
 * Asks the provider about each of the names, and checks what it answers. What is the service's own fault is in the log then.
 * @param integrationAddress - Whose request waits for it; absent: the service's own question.
 */
export async function lookUp(
  provider: Pick<IdentityProvider, 'find'>,
  attempts: readonly RedemptionAttempt[],
  logger: Logger,
  integrationAddress?: string,
): Promise<LookedUp> {
  const foreign = new Set<string>()
  for (const attempt of attempts) {
    const { externalUserId } = attempt
    const answer = await provider.find(externalUserId, integrationAddress)
    if (answer.kind !== 'answer') {
      logRefusal(logger, answer, { externalUserId })
      return { kind: 'failed', refusal: answer }
    }
    const applicant = answer.value
    if (applicant === null) continue
    const misfit = misfitOf(attempt, applicant)
    if (misfit === null) return { kind: 'found', attempt, applicant }
    logger.error({ externalUserId, applicantId: applicant.applicantId, misfit }, strangeApplicant)
    if (misfit === 'level') return { kind: 'failed', refusal: { kind: 'misconfigured', reason: 'another level' } }
    foreign.add(externalUserId)
  }
  return { kind: 'none', foreign }
}

/** Why an applicant cannot be the one that an attempt made, or null. */
export function misfitOf(
  { claimedAt, levelName }: Pick<RedemptionAttempt, 'claimedAt' | 'levelName'>,
  applicant: Pick<Applicant, 'createdAt' | 'levelName'>,
): 'age' | 'level' | null {
  const { createdAt = null, levelName: level = null } = applicant
  if (createdAt !== null && createdAt < claimedAt - clockSkewMs) return 'age'
  return level !== null && levelName !== null && level !== levelName ? 'level' : null
}

/**
 * Ends attempts that nobody has the names of, once nothing can be on its way any more. One that was ended while it was looked up stays so. Resolves false where one of them cannot be looked up by its
 * name: that nobody was found proves nothing then, and it is kept for an operator.
 */
export async function endAbsent(
  tx: StoreTransaction,
  attempts: readonly RedemptionAttempt[],
  foreign: ReadonlySet<string>,
  { clock, logger }: { readonly clock: Pick<Clock, 'now'>; readonly logger: Logger },
): Promise<boolean> {
  let isSettled = true
  for (const attempt of attempts) {
    const { externalUserId, isFindable } = attempt
    // An operator may have said meanwhile what became of it.
    const before = (await tx.verifications.redemption(externalUserId))?.state ?? attempt.state
    if (!isDoubtful(before)) continue
    const unseen = before === 'absent' || isFindable ? 'absent' : 'unresolved'
    const state = foreign.has(externalUserId) ? 'foreign' : unseen
    if (state === 'unresolved') isSettled = false
    if (state === before) continue
    if (state === 'unresolved')
      logger.error({ externalUserId }, 'Nobody can look up what became of a share token; an operator must say.')
    await tx.verifications.endRedemption(externalUserId, state)
    await logAttempt(tx, clock.now(), attempt, state, { externalUserId })
  }
  return isSettled
}

/** Whether an attempt may have been redeemed although nobody knows. */
function isDoubtful(state: RedemptionState): boolean {
  return state === 'claimed' || state === 'unknown' || state === 'unresolved' || state === 'absent'
}
