/** The types of identity verification for hosts and operators. Source: docs/interface.md 4.2. @module */
import type { ShareResponse } from '@payment-integration/contract'
import type { IdentityAccount } from '../ports/identity-accounts.js'
import type { Review } from '../ports/identity-provider.js'
import type { AccountEvent } from './account-store.js'
import type {
  IdentityQuery,
  RedemptionRecord,
  ShareRecord,
  SubjectQuery,
  SubjectView,
  VerdictRecord,
} from './identity-store.js'

/** An operator's decisions about verifications. Each decision is in the audit log. */
export interface IdentityActs {
  /**
   * Resolves a redemption with an unknown outcome and an expired lease.
   * It rejects with SharingUnavailableError, SharingMisconfiguredError, StoreError.
   */
  resolveRedemption(request: ResolveRequest): Promise<ResolveResult>
  /**
   * Closes a stuck hold, or the wait for a missing applicant. The provider is polled first, and must confirm it.
   * It rejects with SharingUnavailableError, SharingMisconfiguredError, StoreError.
   */
  closeVerification(request: CloseRequest): Promise<CloseResult>
}

/** Identity verification sharing. Its own acts are in the name of the service. */
export interface Identity extends IdentityActs {
  /**
   * Shares a verification, with at most one redemption for any number of requests.
   * After any of its errors the client may send the same request again.
   * @throws VerificationNotSharedError `ERR_VERIFICATION_UNAVAILABLE`, RedemptionRejectedError
   * `ERR_SHARE_TOKEN_REJECTED`, SharingUnavailableError `ERR_IDENTITY_UNAVAILABLE`, SharingMisconfiguredError
   * `ERR_IDENTITY_MISCONFIGURED`, StoreError.
   */
  share(input: ShareInput): Promise<ShareResponse>
  /** Applies a webhook of the provider, once. */
  applyVerdict(verdict: Verdict): Promise<VerdictOutcome>
  /** Looks up due redemptions and polls due verifications. Resolves their number. */
  pollDue(): Promise<number>
  /** The store's own accounts. A host with users of its own reports proofs by `proved` instead. */
  accounts(): Promise<IdentityAccountCommands>
  /**
   * Reports that a host's user proved an address. Call it at once.
   * @throws ShareRequestError `ERR_SHARE_INVALID` when it is no address; EmailProofError `ERR_EMAIL_PROOF` when the
   * accounts are the store's own and the id is unknown.
   */
  proved(proof: HostProof): Promise<void>
  /** Records a direct verification of a user. docs/decisions/identity.md: when it counts. */
  readonly recordDirect: RecordDirectVerification
  /** The keyed hash of an address, for operators. @throws ShareRequestError `ERR_SHARE_INVALID`. */
  emailKey(email: string): Promise<string>
  /** Subjects by id. */
  subjects(query: SubjectQuery): Promise<SubjectView[]>
  /** The log of shares, newest first. */
  shares(query: IdentityQuery): Promise<ShareRecord[]>
  /** Redemptions, newest first. */
  redemptions(query: IdentityQuery): Promise<RedemptionRecord[]>
  /** Reports about applicants, newest first. */
  verdicts(query: IdentityQuery): Promise<VerdictRecord[]>
  /** The same acts in the name of another actor. @throws RangeError As `actingAs` of the service. */
  actingAs(actor: string): IdentityActs
  /** Events of the store's accounts, newest first. */
  accountEvents(query: IdentityQuery): Promise<AccountEvent[]>
  /** Polls until the signal aborts, then stops at once. Errors of store and provider do not stop it. */
  run(signal: AbortSignal): Promise<void>
}

/** A parsed and checked share request. */
export interface ShareInput {
  readonly integrationAddress: string
  /** Normalised. */
  readonly email: string
  /** Verbatim. It is sent to the provider alone. */
  readonly shareToken: string
}

/** A webhook of the provider about an applicant. */
export interface Verdict {
  /** Equal for every copy of a webhook. */
  readonly eventKey: string
  readonly applicantId: string
  readonly externalUserId: string | null
  /** The provider's time in unix milliseconds. */
  readonly at: number
  /** The review; null: the event has none. */
  readonly review: Review | null
  /** The level of the applicant; null or absent: the event names none. */
  readonly levelName?: string | null | undefined
  /** The kind of the change. @default 'review', 'deleted' without a review */
  readonly change?: 'review' | 'activated' | 'deactivated' | 'deleted' | undefined
}

/**
 * The outcome of a verdict. `older`, `doubtful`: the provider is polled at once. `unknown`: unknown applicant.
 * `other_level`: its review is of another level than the one that the applicant was attached with.
 */
export type VerdictOutcome = 'applied' | 'duplicate' | 'older' | 'doubtful' | 'unknown' | 'other_level'

/** An issued code. */
export interface IssuedCode {
  /** The address in its normal form: send the code there, and to no other spelling. */
  readonly address: string
  readonly code: string
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

/** The account that proves an address. */
export interface ProveFor {
  /** The account that is signed in. Without one it is the account of the address; for a placeholder, a new account. */
  readonly accountId?: string | undefined
}

/** The store's own accounts. Every call writes its record to the log of accounts in the same transaction. */
export interface IdentityAccountCommands {
  /**
   * Registers an account that carries an address unverified. It gets no earlier share for the address.
   * @throws ShareRequestError `ERR_SHARE_INVALID` when it is no address.
   */
  register(email: string): Promise<IdentityAccount>
  /**
   * Issues a code for an address, replacing an earlier one. The caller sends it to the returned address and shows it
   * nowhere else.
   * @throws ShareRequestError `ERR_SHARE_INVALID` when it is no address.
   */
  requestCode(email: string): Promise<IssuedCode>
  /**
   * Proves an address by code. A code is valid once, for ten minutes and five tries, until the next one is issued.
   * @throws EmailProofError `ERR_EMAIL_PROOF` for any flaw; the log has the reason.
   */
  proveByCode(email: string, code: string, proveFor?: ProveFor): Promise<IdentityAccount>
  /**
   * Proves an address at once by an integration's attestation that it is its user's. It works for a placeholder alone,
   * and for its donor alone.
   * @throws EmailProofError `ERR_EMAIL_PROOF` otherwise.
   */
  proveByAttestation(email: string, integrationAddress: string, proveFor?: ProveFor): Promise<IdentityAccount>
}

/** A host's report that its user just proved an address. */
export interface HostProof {
  readonly email: string
  readonly accountId: string
}

/** A direct verification of a host's user. */
export interface DirectVerification {
  readonly accountId: string
  /** The applicant at the provider, to follow its verdicts; null: it is never polled. */
  readonly applicantId: string | null
  readonly review: Review
  /** The provider's time of the review, in unix milliseconds. */
  readonly at: number
}

/** The result. `busy`: a redemption of the person is in flight; retry. `kept`: the stored verification stays. */
export type DirectDecision = 'recorded' | 'kept' | 'busy'

/** Records a direct verification. */
export type RecordDirectVerification = (verification: DirectVerification) => Promise<DirectDecision>

/** An operator's finding at the provider. */
export interface ResolveRequest {
  /** The name of the redemption. */
  readonly externalUserId: string
  /** The applicant of the redemption; null: there is none. */
  readonly applicantId: string | null
}

/** The result. Those of the second line changed nothing. */
export type ResolveResult =
  | ('attached' | 'surplus' | 'absent')
  | ('not_open' | 'unknown_applicant' | 'of_another_subject' | 'of_another_redemption')

/** A verification to close. */
export interface CloseRequest {
  readonly subjectId: string
  /** `hold`: the applicant was deactivated, and is active again. `missing`: it was deleted at the provider. */
  readonly what: 'hold' | 'missing'
  /** Polls the provider and answers the result without changing anything. @default false */
  readonly dryRun?: boolean | undefined
}

/** The result of a request to close. */
export type CloseResult =
  /** It is closed, or would be without the dry run. */
  | 'closed'
  /** The applicant is not deactivated, not missing, or counts as gone already. */
  | 'nothing_to_close'
  /** The provider knows the missing applicant: it is polled at once, and no longer missing. */
  | 'known'
  /** The provider does not know the missing applicant; its name belongs to another one, which is in the log. */
  | 'name_taken'
  /** The applicant on hold is also missing: close `missing` first. */
  | 'missing'
  /** The provider does not know the applicant on hold. */
  | 'unknown'
  /** The provider's review differs from the stored one: it is polled at once; retry after that. */
  | 'other_review'
  /** The provider knows no applicant of that time, or no redemption is stored. Tenant or environment may be wrong. */
  | 'unproven'
  /** The verification changed meanwhile: retry. */
  | 'changed'
