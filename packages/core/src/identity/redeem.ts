/** Redeeming a token under a claim, so that it lands within the claim or never. Source: INTERFACE 4.2, 7 (422); DESIGN section 3, 5.4. @module */
import type { ShareResponse } from '@payment-integration/contract'
import type { Answer, Applicant, IdentityProvider, ProviderRefusal } from '../ports/identity-provider.js'
import type { RedemptionState, ShareOutcome } from '../ports/store-verifications.js'
import type { Logger } from '../ports/world.js'
import { attach } from './attach.js'
import { type Attempter, logAttempt } from './attempt-log.js'
import { landingMs, lostAnswerMs, patienceMs } from './claim-times.js'
import {
  IdentityMisconfiguredError,
  IdentityUnavailableError,
  ShareTokenRejectedError,
  VerificationUnavailableError,
} from './errors.js'
import { keptBy } from './kept.js'
import { logRefusal } from './log-refusal.js'
import { misfitOf, strangeApplicant } from './look-up.js'
import { type AddressDeps, endOf } from './move-along.js'

/** A claim that this request holds. */
export interface Held extends Attempter {
  /** Proves it. */
  readonly token: string
  /** Number of the attempt. */
  readonly number: number
  /** Its name at the provider. */
  readonly externalUserId: string
  /** The applicant that its own takes the place of, or null. */
  readonly replaces: string | null
  /** End of its lease by this process's clock in unix milliseconds, counted from before it was taken. */
  readonly until: number
}

/** What redeeming needs. */
export interface RedeemDeps extends AddressDeps {
  readonly provider: Pick<IdentityProvider, 'redeem' | 'find' | 'levelName'>
  readonly logger: Logger
}

/** How a claim ended without a redemption. */
interface Ending {
  readonly outcome: ShareOutcome
  readonly state: RedemptionState
  readonly providerCode?: number | null
}

/** Redeems a token under a claim. Resolves null where the name turned out to be taken by an older applicant: another name may do. */
export type Redeem = (held: Held, shareToken: string) => Promise<ShareResponse | null>

/** Builds it. It rejects with the errors of sharing. */
export function createRedeem(deps: RedeemDeps): Redeem {
  const { store, provider, clock, logger } = deps

  return async (held, shareToken) => {
    const { externalUserId } = held
    const claimedAt = clock.now()
    // What is signed by then has landed when the claim ends, however long this process is suspended meanwhile.
    const sendBy = held.until - landingMs
    const isLate = claimedAt > sendBy
    const redemption = isLate
      ? ({ kind: 'unsent' } as const)
      : await provider.redeem({ shareToken, externalUserId, sendBy, integrationAddress: held.integrationAddress })
    switch (redemption.kind) {
      case 'redeemed':
        return attached(held, redemption.applicant, 'redeemed')
      case 'unknown':
        return lost(held, redemption.reason, claimedAt)
      case 'unsent':
        await end(held, { outcome: 'late', state: 'refused' })
        throw new IdentityUnavailableError(patienceMs)
      default:
        await end(held, {
          ...{ outcome: redemption.kind, state: 'refused' },
          providerCode: redemption.kind === 'rejected' ? redemption.providerCode : null,
        })
        logRefusal(logger, redemption, { externalUserId })
        throw refusalError(redemption)
    }
  }

  /** Looks for the applicant of a redemption whose answer was lost. */
  async function lost(held: Held, reason: string, claimedAt: number): Promise<ShareResponse | null> {
    const { accountId, externalUserId } = held
    const found = await provider.find(externalUserId, held.integrationAddress)
    if (found.kind !== 'answer') logRefusal(logger, found, { externalUserId })
    const applicant = found.kind === 'answer' ? found.value : null
    if (applicant !== null) {
      const misfit = misfitOf({ claimedAt, levelName: provider.levelName ?? null }, applicant)
      if (misfit === null) return attached(held, applicant, 'found')
      logger.error({ externalUserId, applicantId: applicant.applicantId, misfit }, strangeApplicant)
      if (misfit === 'age') {
        await end(held, { outcome: 'foreign', state: 'foreign' })
        return null
      }
    }
    // The provider may still be at it, so the claim is kept until its lease ends; then it is looked for again.
    await store.transaction(async (tx) => {
      const { claim } = await tx.verifications.lock(accountId)
      await tx.verifications.endRedemption(externalUserId, 'unknown')
      if (claim?.token === held.token) await tx.verifications.change(accountId, { askInMs: lostAnswerMs })
      await logAttempt(tx, clock.now(), held, 'unknown', held)
    })
    logger.warn({ externalUserId, reason }, 'The outcome of a redemption is not known yet.')
    throw new IdentityUnavailableError(patienceMs)
  }

  async function attached(held: Held, applicant: Applicant, outcome: 'redeemed' | 'found'): Promise<ShareResponse> {
    const source = outcome === 'found' ? 'look_up' : 'redemption'
    const attachment = { attempt: held, applicant, outcome, source } as const
    const { donor, review } = await store.transaction(async (tx) =>
      endOf(tx, await keptBy(tx, held), deps, (moves) => attach(tx, attachment, deps, moves)),
    )
    // Somebody else's verification is there: whatever became of the token, nothing is told of that.
    if (donor !== held.integrationAddress) throw new VerificationUnavailableError()
    return { ...review, reused: true }
  }

  /** Ends an attempt that redeemed nothing. What was before stays. */
  async function end(held: Held, { outcome, state, providerCode = null }: Ending): Promise<void> {
    const { accountId, externalUserId } = held
    await store.transaction(async (tx) =>
      endOf(tx, await keptBy(tx, held), deps, async () => {
        const { claim } = await tx.verifications.lock(accountId)
        await tx.verifications.endRedemption(externalUserId, state)
        if (claim?.token === held.token) await tx.verifications.change(accountId, { claim: null })
        await logAttempt(tx, clock.now(), held, outcome, { externalUserId, providerCode })
      }),
    )
  }
}

/** The error of a refusal. */
export function refusalError(refused: ProviderRefusal | Exclude<Answer<unknown>, { kind: 'answer' }>): Error {
  switch (refused.kind) {
    case 'rejected':
      return new ShareTokenRejectedError(refused.message)
    case 'misconfigured':
      return new IdentityMisconfiguredError()
    case 'throttled':
      return new IdentityUnavailableError(refused.retryAfterMs ?? patienceMs)
    case 'unavailable':
      return new IdentityUnavailableError(patienceMs)
  }
}
