/**
 * Verifications of accounts, the claims that keep a share token from being redeemed twice, and the names under which tokens were sent.
 * Source: INTERFACE 3, 4.2; DESIGN section 5.4.
 * @module
 */
import type { Review } from './identity-provider.js'

/** The right to redeem for an account: one request has it at a time. */
export interface RedemptionClaim {
  /** Proves the claim. */
  readonly token: string
  /** The integration whose request has it. */
  readonly by: string
  /** The name that the applicant of this claim gets at the provider: no other claim ever has it. */
  readonly externalUserId: string
  /** Whether its lease is over: whoever made it died, or never got an answer. */
  readonly lapsed: boolean
}

/** The provider says that there is no such applicant. */
export interface MissingApplicant {
  /** When that was first heard, in unix milliseconds. */
  readonly since: number
  /** A webhook told that it was deleted. */
  readonly told: boolean
  /** It was asked about again, and is gone: `review` is null from then on. */
  readonly confirmed: boolean
}

/** What is known of an account's verification. */
export interface Verification {
  readonly accountId: string
  /** The integration that shared it; null while there is none. An account that was verified in another way names `self`. It outlives its applicant. */
  readonly donor: string | null
  readonly applicantId: string | null
  /** Number of the attempt that the applicant came from; null while there is none. */
  readonly attempt: number | null
  /** Where it stands; null while there is none, and when the applicant is gone. */
  readonly review: Review | null
  /** The provider's time of `review` in unix milliseconds: what is older changes nothing. */
  readonly reviewedAt: number | null
  /** What the provider answered without a time that proves it newer: believed when it is answered again. */
  readonly doubt: Review | null
  /** The applicant is switched off at the provider since then, or on again, in the provider's time; null: nobody ever said. */
  readonly presence: { readonly isActive: boolean; readonly at: number } | null
  readonly missing: MissingApplicant | null
  /** Number of the newest attempt. */
  readonly attempts: number
  readonly claim: RedemptionClaim | null
}

/** What is written of a verification. */
export type VerificationChange = Partial<
  Pick<
    Verification,
    'donor' | 'applicantId' | 'attempt' | 'review' | 'reviewedAt' | 'doubt' | 'presence' | 'missing' | 'attempts'
  >
> & {
  /** A new claim with its lease, or null: the claim is over. */
  readonly claim?: (Omit<RedemptionClaim, 'lapsed'> & { readonly leaseMs: number }) | null | undefined
  /** When the provider is to be asked, in milliseconds from now; null: not at all. */
  readonly askInMs?: number | null | undefined
  /** Leaves the time of the next question as it is where it has come already (`due`), or where it comes before `askInMs` does (`sooner`). */
  readonly askUnless?: 'due' | 'sooner' | undefined
}

/** What became of a token that may have been sent. */
export type RedemptionState =
  /** It may be on its way. */
  | 'claimed'
  /** No answer came. */
  | 'unknown'
  /** No answer came, and no look-up can tell: an operator must say. */
  | 'unresolved'
  /** The provider knew no applicant of that name when nothing could be on its way any more. */
  | 'absent'
  /** The provider refused, or nothing was sent: no token was redeemed. */
  | 'refused'
  /** Its applicant was attached to the account. */
  | 'attached'
  /** Its applicant came when another was attached: an operator must look. */
  | 'surplus'
  /** The name belongs to an applicant that is older than the attempt. */
  | 'foreign'

/** An attempt that may have sent a token, under a name of its own. None is ever forgotten. */
export interface RedemptionAttempt {
  readonly externalUserId: string
  readonly accountId: string
  /** From 1, without a repetition in one account. */
  readonly number: number
  /** Whose token it is: the donor, if it was redeemed. */
  readonly integrationAddress: string
  /** Keyed hash of the e-mail address, 64 lowercase hex digits. */
  readonly emailKey: string
  /** The level that was asked for; null: none was named. */
  readonly levelName: string | null
  /** Whether a look-up by name finds its applicant. */
  readonly isFindable: boolean
  /** Unix milliseconds, by the clock that its request was signed with. */
  readonly claimedAt: number
  /** The applicant of the account when it was claimed, which was rejected or gone and is to be replaced; null: it had none, or that was not kept. */
  readonly replaces: string | null
  /**
   * Who took the address of the attempt since, as far as each took it from the one before: what was shared is theirs, and goes there. Null: nobody took it from
   * `accountId`. From who gave the address up for another one nobody takes it.
   */
  readonly takenBy: string | null
  readonly state: RedemptionState
  /** Its applicant, once that is known. */
  readonly applicantId: string | null
}

/** How a share attempt ended, or went on, as the log keeps it. */
export type ShareOutcome =
  /** A claim was made: a token may be sent from here on. */
  | 'claimed'
  /** The provider redeemed the token. */
  | 'redeemed'
  /** A lost redemption was found by looking it up. */
  | 'found'
  /** A lost redemption was learnt of by a webhook. */
  | 'attached'
  /** An operator said what became of it. */
  | 'settled'
  | 'already_approved'
  | 'in_flight'
  | 'rejected'
  | 'not_donated'
  | 'concurrent'
  | 'unknown'
  /** Nobody can look up what became of an attempt; with its name that of the attempt, without one that of a request that waits for it. */
  | 'unresolved'
  | 'absent'
  | 'foreign'
  | 'surplus'
  /** Too late to send within the claim: nothing was. */
  | 'late'
  /** Claims of others ended one after the other, until the request gave up. */
  | 'exhausted'
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

/** Something that the provider said of an applicant. */
export interface VerdictEntry {
  /** When it was noted, in unix milliseconds. */
  readonly notedAt: number
  readonly accountId: string
  readonly applicantId: string
  readonly source: 'redemption' | 'look_up' | 'webhook' | 'question' | 'operator'
  readonly news: 'review' | 'activated' | 'deactivated' | 'deleted' | 'missing' | 'back'
  /** The provider's time of it in unix milliseconds, or null. */
  readonly at: number | null
  readonly review: Review | null
  /** Whether it counted: what is older than what is known does not, and what is doubtful is asked about first. */
  readonly outcome: 'applied' | 'older' | 'doubtful' | 'surplus'
}

/** A verification as an operator sees it. */
export interface VerificationView extends Omit<Verification, 'claim'> {
  readonly emailKey: string
  readonly claimed: boolean
}

/** What an operator asks for: all, or what belongs to an e-mail's keyed hash. */
export interface IdentityQuery {
  readonly emailKey?: string | undefined
  readonly limit: number
}

/** Which verifications an operator asks for. */
export interface VerificationQuery extends IdentityQuery {
  readonly accountId?: string | undefined
  /** Those of accounts behind this one, in the order of the list. */
  readonly afterAccountId?: string | undefined
}

/** Reads of verifications. */
export interface VerificationStore {
  /** Those of an e-mail's keyed hash, that of an account, or all by account; at most `limit`. */
  list(query: VerificationQuery): Promise<VerificationView[]>
  /** The log of attempts, newest first. */
  attempts(query: IdentityQuery): Promise<ShareAttempt[]>
  /** Attempts that may have sent a token, newest first. */
  redemptions(query: IdentityQuery): Promise<RedemptionAttempt[]>
  /** What the provider said, newest first. */
  verdicts(query: IdentityQuery): Promise<VerdictEntry[]>
  /** Accounts about which the provider is to be asked now, longest due first. */
  dueForQuestion(limit: number): Promise<{ readonly accountId: string; readonly applicantId: string | null }[]>
  /** How many applicants are missing and not confirmed to be. */
  countMissing(): Promise<number>
  /** Forgets up to `limit` events that were noted for a time before `before`, in unix milliseconds. Resolves how many. */
  forgetEvents(before: number, limit: number): Promise<number>
}

/** Verifications inside a transaction. */
export interface VerificationTransaction {
  /** The verification of an account, made empty where there is none, and locked until the transaction ends. */
  lock(accountId: string): Promise<Verification>
  /**
   * The locked verification of an applicant, else of the attempt that had that external user id, with that attempt; or null. An applicant that goes to another
   * account while this waits is found there.
   */
  lockByApplicant(named: {
    readonly applicantId: string
    readonly externalUserId: string | null
  }): Promise<{ readonly verification: Verification; readonly attempt: RedemptionAttempt | null } | null>
  /** The verification that has an applicant, read without waiting for whoever holds it; or null. */
  ofApplicant(applicantId: string): Promise<Verification | null>
  /** Writes the fields given. */
  change(accountId: string, change: VerificationChange): Promise<void>
  /** Notes an attempt, before its token is sent. Rejects when the name was used before. */
  addRedemption(attempt: RedemptionAttempt): Promise<void>
  /**
   * An address went from one account to another: the attempts for it that were the first one's, by `takenBy` or else by `accountId`, are the other's. Call it with the
   * address held.
   */
  passRedemptions(address: { readonly emailKey: string; readonly fromId: string; readonly toId: string }): Promise<void>
  /** What came of an attempt stays with an account, or went to it, whoever took its address. */
  keepRedemption(externalUserId: string, accountId: string): Promise<void>
  /** What became of an attempt. One that was attached stays so. */
  endRedemption(externalUserId: string, state: RedemptionState, applicantId?: string): Promise<void>
  /** The attempt that had that external user id, or null. */
  redemption(externalUserId: string): Promise<RedemptionAttempt | null>
  /** The attempt that an applicant came from, wherever it is attached now: the newest that is `attached` with its id, or null. */
  redemptionOf(applicantId: string): Promise<RedemptionAttempt | null>
  /**
   * Attempts of an account above `afterNumber` that may have been redeemed although nobody knows: `claimed`, `unknown`, `unresolved`, and `absent` where
   * they were claimed since `absentSince`, in unix milliseconds. At most `limit`: the absent ones last, each newest first.
   */
  doubtfulRedemptions(query: {
    readonly accountId: string
    readonly afterNumber: number
    readonly absentSince: number
    readonly limit: number
  }): Promise<RedemptionAttempt[]>
  /** Logs an attempt. */
  logAttempt(attempt: ShareAttempt): Promise<void>
  /** Keeps what the provider said. */
  noteVerdict(entry: VerdictEntry): Promise<void>
  /** Notes an event of the provider. Resolves false when it was noted before. */
  noteEvent(eventKey: string, at: number): Promise<boolean>
}
