/** Subjects, redemptions and accounts; times are unix milliseconds. Source: docs/decisions/identity.md. @module */
import type { AddressOwner, EmailAddress, EmailProof, IdentityAccount, Review } from '../ports/identity.js'

export interface MissingApplicant {
  /** When a poll or a webhook first reported the applicant missing. */
  readonly since: number
  /** A webhook reported the deletion of the applicant. */
  readonly reported: boolean
  /** The applicant counts as gone: `review` is null from then on. */
  readonly confirmed: boolean
}

export interface Verification {
  /** The integration that shared the verification, even if its applicant is gone; null: none did. */
  readonly donor: string | null
  readonly applicantId: string | null
  /** Number of the redemption whose applicant is attached; null: none. */
  readonly attachedNumber: number | null
  /** When the applicant was attached, by the service's clock; null: never. */
  readonly attachedAt: number | null
  /** The review of the applicant; null: there is none, or the applicant is gone. */
  readonly review: Review | null
  /** The provider's time of `review` in unix milliseconds: an older review changes nothing. */
  readonly reviewedAt: number | null
  /** A review that is not proven to be newer than `review`: it counts once the provider repeats it. */
  readonly doubt: Review | null
  /** When the provider last activated or deactivated the applicant, by its clock; null: never. */
  readonly presence: { readonly isActive: boolean; readonly at: number } | null
  readonly missing: MissingApplicant | null
}

/** The person behind an e-mail address while it is theirs; without an address: a direct verification of an account. */
export interface IdentitySubject extends Verification {
  readonly id: string
  /** Keyed hash of the address, 64 lowercase hex digits; null: the direct verification of its account. */
  readonly emailKey: string | null
  /** Null: a placeholder. */
  readonly accountId: string | null
  readonly proved: boolean
  /** The account gave the address up: its next owner is another person. */
  readonly closed: boolean
  /** Number of the newest redemption; 0: none. */
  readonly redemptions: number
  /** Increases with every change of the verification. */
  readonly revision: number
}

export type NewSubject = Pick<IdentitySubject, 'id' | 'emailKey' | 'accountId' | 'proved'> & {
  /** The stored forms of the address; null where `emailKey` is null. */
  readonly email: EmailAddress | null
}

/** A change of a verification. Absent fields are unchanged. */
export type VerificationChange = Partial<Verification> & {
  /** Time until the next poll of the review, in milliseconds by the store's clock; null: no poll. */
  readonly pollInMs?: number | null | undefined
}

/**
 * - `in_flight`: the token may be in flight. With an expired lease the outcome is unknown.
 * - `unknown`: no answer arrived.
 * - `unresolved`: no answer arrived, and a look-up proves nothing: an operator must resolve the redemption.
 * - `absent`: after the lease, the provider knew no applicant with the external user id.
 * - `unused`: the provider rejected the token, or nothing was sent: the redemption used no token.
 * - `attached`: the applicant was attached to the subject.
 * - `surplus`: the applicant is not attached: the subject has a newer applicant, or one of another donor.
 * - `foreign`: the external user id belongs to an applicant that is older than the redemption.
 */
export type RedemptionState = OpenState | FinalState
/** The provider may still know an applicant of the redemption. */
type OpenState = 'in_flight' | 'unknown' | 'unresolved' | 'absent'
type FinalState = 'unused' | 'attached' | 'surplus' | 'foreign'

/** One use of a share token at the provider, named by `externalUserId`. No name is ever deleted or reused. */
export interface RedemptionRecord {
  readonly externalUserId: string
  readonly subjectId: string
  /** From 1, unique in its subject. */
  readonly number: number
  /** The integration that shared the token: the donor once the token is redeemed. */
  readonly integrationAddress: string
  /** The requested level, else the level of the attached applicant; null: neither is named. */
  readonly levelName: string | null
  /** Whether the provider can find the applicant by `externalUserId`. */
  readonly isFindable: boolean
  /** Unix milliseconds by the clock that signs the request. */
  readonly startedAt: number
  /** True during the lease: the token may still be redeemed at the provider. */
  readonly isLeased: boolean
  readonly state: RedemptionState
  readonly applicantId: string | null
}

/** A redemption to store. It is `in_flight`. */
export type NewRedemption = Omit<RedemptionRecord, 'isLeased' | 'state' | 'applicantId'> & {
  /** Duration of the lease in milliseconds by the store's clock; the first look-up is due after it. */
  readonly leaseMs: number
}

/** A change of a redemption. Absent fields are unchanged. */
export interface RedemptionChange {
  readonly state?: RedemptionState | undefined
  readonly applicantId?: string | null | undefined
  readonly levelName?: string | null | undefined
  /** Time until the next look-up, in milliseconds by the store's clock; null: no look-up. */
  readonly lookUpInMs?: number | null | undefined
}

/** Outcomes of answers with a stored review: no token was used. */
export type AnswerOutcome = 'already_approved' | 'in_flight' | 'concurrent'

/** docs/guides/operate-shared-verifications.md has the meaning of each. */
export type ShareOutcome = AnswerOutcome | RedeemedOutcome | OpenOutcome | UnusedOutcome
/** A redemption began, or its applicant is known: by the answer, a look-up, a webhook or an operator. */
type RedeemedOutcome = 'started' | 'redeemed' | 'found' | 'reported' | 'resolved' | 'surplus'
/** No applicant of the redemption is known. */
type OpenOutcome = 'unknown' | 'unresolved' | 'absent' | 'foreign'
/** No token was used: another integration donated, nothing was sent, or the provider rejected the request. */
type UnusedOutcome = 'not_donated' | 'exhausted' | 'late' | 'rejected' | 'misconfigured' | 'throttled' | 'unavailable'

/** An entry of the log of shares, without e-mail address and token. */
export interface ShareRecord {
  readonly at: number
  readonly integrationAddress: string
  readonly subjectId: string
  readonly outcome: ShareOutcome
  readonly externalUserId: string | null
  /** The provider's code of a rejection. */
  readonly providerCode: number | null
}

/** A report about an applicant, from the provider or an operator. */
export interface VerdictRecord {
  readonly notedAt: number
  readonly subjectId: string
  readonly applicantId: string
  readonly source: 'redemption' | 'look_up' | 'webhook' | 'poll' | 'operator'
  readonly change: 'review' | 'activated' | 'deactivated' | 'deleted' | 'missing' | 'back'
  /** The provider's time, or null. */
  readonly at: number | null
  readonly review: Review | null
  /** Whether the report was applied. `other_level`: the review is not of the attached level, and counts for nothing. */
  readonly outcome: 'applied' | 'older' | 'doubtful' | 'surplus' | 'other_level'
}

/** A subject as an operator sees it. */
export interface SubjectView extends IdentitySubject {
  /** A redemption is in flight or has an unknown outcome. */
  readonly isOpen: boolean
}

export interface IdentityQuery {
  /** The keyed hash of an address. @default all addresses */
  readonly emailKey?: string | undefined
  readonly limit: number
}

export interface SubjectQuery extends IdentityQuery {
  readonly id?: string | undefined
  readonly accountId?: string | undefined
  /** Subjects after this one in the order of the list. */
  readonly afterId?: string | undefined
}

export interface IdentityStore {
  subjects(query: SubjectQuery): Promise<SubjectView[]>
  /** The log of shares, newest first. */
  shares(query: IdentityQuery): Promise<ShareRecord[]>
  /** Redemptions, newest first. */
  redemptions(query: IdentityQuery): Promise<RedemptionRecord[]>
  /** Reports about applicants, newest first. */
  verdicts(query: IdentityQuery): Promise<VerdictRecord[]>
  /** Events of the store's own accounts, newest first. */
  accountEvents(query: IdentityQuery): Promise<AccountEvent[]>
  /** Redemptions with a due look-up, longest due first. */
  dueLookUps(limit: number): Promise<{ readonly externalUserId: string; readonly subjectId: string }[]>
  /** Subjects with a due poll, longest due first. */
  duePolls(limit: number): Promise<{ readonly subjectId: string; readonly applicantId: string }[]>
  /**
   * Look-ups and polls further ahead than the longest wait become due now: a clock that was ahead wrote them.
   * Longer leases are shortened to `leaseMs` from now, because their redemptions may be in flight.
   * @param longest - The longest waits that the service sets, in whole milliseconds.
   * @returns The number of changed redemptions and subjects.
   */
  resetOverlongWaits(longest: Readonly<Record<'leaseMs' | 'lookUpMs' | 'pollMs', number>>): Promise<number>
  /** Number of applicants that are missing and not confirmed as gone. */
  countMissing(): Promise<number>
  /** Deletes up to `limit` provider events older than `before`, in unix milliseconds. Resolves their number. */
  forgetEvents(before: number, limit: number): Promise<number>
}

export interface PersonQuery {
  /** The person of the open subject of an address. */
  readonly emailKey?: string | undefined
  /** The persons of accounts; an account without a subject is locked, too. */
  readonly accountIds?: readonly string[] | undefined
  /** The person of a subject. */
  readonly subjectId?: string | undefined
}

export interface IdentityTransaction {
  /**
   * Returns the open subject of an address, or inserts a placeholder with the id `freshId`. One statement writes one
   * row in both cases. Call it alone in a transaction: it locks the row of the subject, but not the person.
   */
  ensureSubject(email: EmailAddress, freshId: string): Promise<IdentitySubject>
  /**
   * Locks persons until the transaction ends, and resolves all their subjects, oldest first. A *person* is all subjects
   * of one account, open, closed and direct, or one placeholder. No other transaction changes them or adds a subject.
   * Call it before other writes; a second call reads the subjects again.
   */
  lockPersons(query: PersonQuery): Promise<IdentitySubject[]>
  /** Stores a subject. Rejects when its address has an open subject, or its account a direct one. */
  insertSubject(subject: NewSubject): Promise<IdentitySubject>
  /** Changes the owner of a locked subject. */
  setOwner(subjectId: string, owner: Partial<Pick<IdentitySubject, 'accountId' | 'proved' | 'closed'>>): Promise<void>
  /** Changes the verification of a locked subject, and adds 1 to its revision. */
  changeVerification(subjectId: string, change: VerificationChange): Promise<void>
  findSubjectByApplicant(applicantId: string): Promise<IdentitySubject | null>
  /** Stores a redemption, and its number in its subject. Rejects an external user id that was used before. */
  addRedemption(redemption: NewRedemption): Promise<void>
  /** Changes a redemption. One that is `attached` keeps its state, its applicant and its level. */
  changeRedemption(externalUserId: string, change: RedemptionChange): Promise<void>
  redemption(externalUserId: string): Promise<RedemptionRecord | null>
  /** The redemption of an applicant: the newest that is `attached` with the applicant's id, or null. */
  findAttachedRedemption(applicantId: string): Promise<RedemptionRecord | null>
  /**
   * Open redemptions of subjects (in flight, or outcome unknown): `in_flight`, `unknown`, `unresolved`, and `absent`
   * since `absentSince` in unix milliseconds. At most `limit`, oldest first. Above the limit, absent ones are left out
   * first, then the oldest.
   */
  openRedemptions(query: {
    readonly subjectIds: readonly string[]
    readonly absentSince: number
    readonly limit: number
  }): Promise<RedemptionRecord[]>
  logShare(entry: ShareRecord): Promise<void>
  recordVerdict(entry: VerdictRecord): Promise<void>
  /** Notes an event of the provider. Resolves false when it was noted before. */
  recordEvent(eventKey: string, at: number): Promise<boolean>
}

/**
 * - `no_code`: the address has no code: none was requested, or it was used, replaced or tried too often.
 * - `not_placeholder`: the attested address has an account already.
 * - `not_donor`: the attesting integration is not the donor of the placeholder's verification.
 */
export type ProofRejection = CodeRejection | 'not_placeholder' | 'not_donor' | 'unknown_account'
type CodeRejection = 'no_code' | 'code_expired' | 'code_wrong'

/** An event of an account, without e-mail address and code. */
export interface AccountEvent {
  readonly at: number
  readonly action: 'registered' | 'code_issued' | 'proved' | 'rejected' | 'verified'
  /** Keyed hash of the e-mail address; null where the event is about the account alone. */
  readonly emailKey: string | null
  readonly accountId: string | null
  /** The kind of the accepted or rejected proof. */
  readonly proof: EmailProof['kind'] | null
  /** Address of the attesting integration; null for every other proof. */
  readonly by: string | null
  readonly reason: ProofRejection | null
}

export interface StoredEmailCode {
  /** Keyed hash of the address and the code. */
  readonly hash: string
  readonly expiresAt: number
  readonly triesLeft: number
}

/** The store's own accounts inside a transaction. */
export interface IdentityAccountTransaction {
  /** The owner of an address by its keyed hash, as {@link IdentityAccounts.findAddressOwner}. */
  findAddressOwner(emailKey: string): Promise<AddressOwner | null>
  find(accountId: string): Promise<IdentityAccount | null>
  /** Makes an account with the address, unverified. */
  register(email: EmailAddress, accountId: string): Promise<void>
  /** Makes an account, new or existing, the only owner of an address. All other accounts lose it. */
  setProvedOwner(email: EmailAddress, accountId: string): Promise<void>
  /** Locks and resolves the code of an address; null: none. Call it before persons are locked. */
  lockCode(emailKey: string): Promise<StoredEmailCode | null>
  /** Replaces the code of an address; null: deletes it. */
  setCode(emailKey: string, code: StoredEmailCode | null): Promise<void>
  log(event: AccountEvent): Promise<void>
}
