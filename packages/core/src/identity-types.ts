/** What hosts, servers and operators get of identity verification. Source: docs/interface.md 4.2. @module */
import type { ShareResponse } from '@payment-integration/contract'
import type { AccountEvent, IdentityAccount } from './ports/identity-accounts.js'
import type { Review } from './ports/identity-provider.js'
import type {
  IdentityQuery,
  RedemptionRecord,
  ShareRecord,
  SubjectQuery,
  SubjectView,
  VerdictRecord,
} from './ports/store-identity.js'

/** Identity verification sharing. */
export interface Identity {
  /**
   * Shares a verification: at most one redemption, whoever asks how often.
   * After any of its errors the same request may be sent again.
   * @throws VerificationNotSharedError `ERR_VERIFICATION_UNAVAILABLE`, RedemptionRejectedError
   * `ERR_SHARE_TOKEN_REJECTED`, SharingUnavailableError `ERR_IDENTITY_UNAVAILABLE`, SharingMisconfiguredError
   * `ERR_IDENTITY_MISCONFIGURED`, StoreError.
   */
  share(input: ShareInput): Promise<ShareResponse>
  /** Applies what the provider reports of an applicant, once. */
  applyVerdict(verdict: Verdict): Promise<VerdictOutcome>
  /** Looks up lost answers and polls verifications that are due. Resolves how many. */
  pollDue(): Promise<number>
  /** The store's own accounts. A host with users of its own reports proofs by `proved` instead. */
  accounts(): Promise<IdentityAccountCommands>
  /**
   * A host's user proved an address: call it in that moment.
   * @throws ShareRequestError `ERR_SHARE_INVALID` when it is no address; EmailProofError `ERR_EMAIL_PROOF` when the
   * accounts are the store's own and there is none of that id.
   */
  proved(proof: HostProof): Promise<void>
  /** Records a verification that a user did directly: docs/decisions/identity.md says when it counts. */
  readonly recordDirect: RecordDirectVerification
  /** The keyed hash that names an address to operators. @throws ShareRequestError `ERR_SHARE_INVALID`. */
  emailKey(email: string): Promise<string>
  /** Subjects by id. */
  subjects(query: SubjectQuery): Promise<SubjectView[]>
  /** The log of shares, newest first. */
  shares(query: IdentityQuery): Promise<ShareRecord[]>
  /** Redemptions, newest first. */
  redemptions(query: IdentityQuery): Promise<RedemptionRecord[]>
  /** What was said of applicants, newest first. */
  verdicts(query: IdentityQuery): Promise<VerdictRecord[]>
  /**
   * An operator resolves a redemption whose outcome is unknown and whose lease is over. The audit log names who did.
   * It rejects with SharingUnavailableError, SharingMisconfiguredError, StoreError.
   */
  resolveRedemption(request: ResolveRequest): Promise<ResolveResult>
  /**
   * An operator closes a hold, or the wait for a missing applicant, whose webhook was lost. The provider is asked
   * first, and must agree. The audit log names who did.
   * It rejects with SharingUnavailableError, SharingMisconfiguredError, StoreError.
   */
  closeVerification(request: CloseRequest): Promise<CloseResult>
  /** What happened to accounts of the store, newest first. */
  accountEvents(query: IdentityQuery): Promise<AccountEvent[]>
  /** Polls until the signal aborts, and then ends at once. It survives errors of the world. */
  run(signal: AbortSignal): Promise<void>
}

/** A share request that was parsed and checked. */
export interface ShareInput {
  readonly integrationAddress: string
  /** Normalised. */
  readonly email: string
  /** Verbatim. It is given to the provider, and to nothing else. */
  readonly shareToken: string
}

/** What the provider reports of an applicant. */
export interface Verdict {
  /** The same for every copy. */
  readonly eventKey: string
  readonly applicantId: string
  readonly externalUserId: string | null
  /** The provider's time in unix milliseconds. */
  readonly at: number
  /** Where it stands; null: the event does not say. */
  readonly review: Review | null
  /** The level that the applicant is of; null or absent: the event does not say. */
  readonly levelName?: string | null | undefined
  /** What changed; or it was switched off, on again, or deleted. @default 'review', 'deleted' without a review */
  readonly change?: 'review' | 'activated' | 'deactivated' | 'deleted' | undefined
}

/** What became of a verdict. `older`, `doubtful`: the provider is polled at once. `unknown`: no applicant of ours. */
export type VerdictOutcome = 'applied' | 'duplicate' | 'older' | 'doubtful' | 'unknown'

/** A code that was made. */
export interface IssuedCode {
  /** The address in its normal form: send the code there, and to no other spelling. */
  readonly address: string
  readonly code: string
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

/** For whom an address is proven. */
export interface ProveFor {
  /** The account that is signed in. Without one, the account of the address proves it; for a placeholder, a new one. */
  readonly accountId?: string | undefined
}

/** The store's own accounts. Every call leaves its record in the log of accounts, in the same transaction. */
export interface IdentityAccountCommands {
  /**
   * Registers an account that carries an address unverified. It gets nothing that was shared for the address before.
   * @throws ShareRequestError `ERR_SHARE_INVALID` when it is no address.
   */
  register(email: string): Promise<IdentityAccount>
  /**
   * A code for an address, in place of the one before. Whoever calls this sends it to the address that is returned, and
   * shows it to nobody.
   * @throws ShareRequestError `ERR_SHARE_INVALID` when it is no address.
   */
  requestCode(email: string): Promise<IssuedCode>
  /**
   * Proves an address by code. A code is good once, for ten minutes and five tries, until the next one is made.
   * @throws EmailProofError `ERR_EMAIL_PROOF` whatever is wrong with it; the log says what.
   */
  proveByCode(email: string, code: string, proveFor?: ProveFor): Promise<IdentityAccount>
  /**
   * Proves it at once, because an integration attests that the address is its user's: only a placeholder, and only by
   * the integration that shared for it.
   * @throws EmailProofError `ERR_EMAIL_PROOF` when it is not.
   */
  proveByAttestation(email: string, integrationAddress: string, proveFor?: ProveFor): Promise<IdentityAccount>
}

/** A host's report that a user of its own proved an address, in the moment it happens. */
export interface HostProof {
  readonly email: string
  readonly accountId: string
}

/** What a host knows of a verification that its user did directly. */
export interface DirectVerification {
  readonly accountId: string
  /** The applicant at the provider, so that its verdicts are followed; null: it is never polled. */
  readonly applicantId: string | null
  readonly review: Review
  /** The provider's time of the review, in unix milliseconds. */
  readonly at: number
}

/** What became of it. `busy`: a redemption of the person is in flight; try again. `kept`: the stored one stays. */
export type DirectDecision = 'recorded' | 'kept' | 'busy'

/** Records a direct verification. */
export type RecordDirectVerification = (verification: DirectVerification) => Promise<DirectDecision>

/** What an operator found at the provider. */
export interface ResolveRequest {
  /** The name of the redemption. */
  readonly externalUserId: string
  /** The applicant that came of it; null: none did. */
  readonly applicantId: string | null
}

/** What became of the redemption. After those of the second line nothing was changed. */
export type ResolveResult =
  | ('attached' | 'surplus' | 'absent')
  | ('not_open' | 'unknown_applicant' | 'of_another_subject' | 'of_another_redemption')

/** What an operator closes. */
export interface CloseRequest {
  readonly subjectId: string
  /** `hold`: the applicant was switched off, and is on again. `missing`: it was deleted at the provider. */
  readonly what: 'hold' | 'missing'
  /** Only answers what would become of it: the provider is asked, and nothing is changed. @default false */
  readonly dryRun?: boolean | undefined
}

/** What became of a request to close. */
export type CloseResult =
  /** It is closed; in a dry run it would be. */
  | 'closed'
  /** The applicant is not switched off, not missing, or counts as gone already. */
  | 'nothing_to_close'
  /** The provider knows the missing applicant: it is polled at once, which ends the wait. */
  | 'known'
  /** The provider does not know the missing applicant, and its name belongs to another one, which the log names. */
  | 'name_taken'
  /** The applicant on hold is missing, too: close that first. */
  | 'missing'
  /** The provider does not know the applicant on hold. */
  | 'unknown'
  /** The provider gives another review than is known: it is polled at once; try again after that. */
  | 'other_review'
  /** The provider knows no applicant of that time, or no redemption is known: tenant or environment may be wrong. */
  | 'unproven'
  /** Something was heard of it meanwhile: try again. */
  | 'changed'
