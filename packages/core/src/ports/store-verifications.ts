/** Verifications of accounts, and the claims that keep a share token from being redeemed twice. Source: INTERFACE 3, 4.2; DESIGN section 5.4. @module */
import type { Review } from './identity-provider.js'

/** A redemption that is under way, or whose end nobody knows. */
export interface RedemptionClaim {
  /** Proves the claim. */
  readonly token: string
  /** The integration whose token is redeemed. */
  readonly by: string
  /** The name of the applicant at the provider: the same whoever takes the claim over. */
  readonly externalUserId: string
  /** Whether its lease is over: whoever made it died, or never got an answer. */
  readonly lapsed: boolean
}

/** What is known of an account's verification. */
export interface Verification {
  readonly accountId: string
  /** The integration that shared it; null while there is none. An account that was verified in another way names `self`. */
  readonly donor: string | null
  readonly applicantId: string | null
  /** Where it stands; null while there is none. */
  readonly review: Review | null
  /** The provider's time of `review` in unix milliseconds: what is older changes nothing. */
  readonly reviewedAt: number | null
  /** Redemptions that were begun for this account. */
  readonly attempts: number
  readonly claim: RedemptionClaim | null
}

/** What is written of a verification. */
export type VerificationChange = Partial<
  Pick<Verification, 'donor' | 'applicantId' | 'review' | 'reviewedAt' | 'attempts'>
> & {
  /** A new claim with its lease, or null: the claim is over. */
  readonly claim?: (Omit<RedemptionClaim, 'lapsed'> & { readonly leaseMs: number }) | null | undefined
  /** When the provider is to be asked, in milliseconds from now; null: not at all. */
  readonly askInMs?: number | null | undefined
}

/** How a share attempt ended, as the log keeps it. */
export type ShareOutcome =
  | 'redeemed'
  | 'already_approved'
  | 'in_flight'
  | 'rejected'
  | 'not_donated'
  | 'concurrent'
  | 'unknown'
  | 'misconfigured'
  | 'throttled'
  | 'unavailable'

/** One attempt to share, without e-mail and token. */
export interface ShareAttempt {
  readonly at: number
  readonly integrationAddress: string
  /** Keyed hash of the e-mail address, 64 lowercase hex digits. */
  readonly emailKey: string
  readonly accountId: string
  readonly outcome: ShareOutcome
  readonly externalUserId: string | null
  readonly providerCode: number | null
}

/** A verification as an operator sees it. */
export interface VerificationView extends Omit<Verification, 'claim'> {
  readonly emailKey: string
  readonly claimed: boolean
}

/** Reads of verifications. */
export interface VerificationStore {
  /** Those of an e-mail's keyed hash, or all by account; at most `limit`. */
  list(query: {
    readonly emailKey?: string | undefined
    readonly afterAccountId?: string | undefined
    readonly limit: number
  }): Promise<VerificationView[]>
  /** Attempts, newest first. */
  attempts(query: { readonly emailKey?: string | undefined; readonly limit: number }): Promise<ShareAttempt[]>
  /** Applicants about whom the provider is to be asked now, longest due first. */
  dueForQuestion(limit: number): Promise<{ readonly accountId: string; readonly applicantId: string }[]>
}

/** Verifications inside a transaction. */
export interface VerificationTransaction {
  /** The verification of an account, made empty where there is none, and locked until the transaction ends. */
  lock(accountId: string): Promise<Verification>
  /** The locked verification of an applicant, or of the claim under an external user id, or null. */
  lockByApplicant(named: {
    readonly applicantId: string
    readonly externalUserId: string | null
  }): Promise<Verification | null>
  /** Writes the fields given. */
  change(accountId: string, change: VerificationChange): Promise<void>
  /** Logs an attempt. */
  logAttempt(attempt: ShareAttempt): Promise<void>
  /** Notes an event of the provider. Resolves false when it was noted before. */
  noteEvent(eventKey: string, at: number): Promise<boolean>
}
