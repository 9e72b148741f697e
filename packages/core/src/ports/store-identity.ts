/**
 * Subjects, their redemptions and their verifications as stored. Source: docs/interface.md 3, 4.2;
 * docs/decisions/identity.md.
 *
 * @module
 */
import type { EmailAddress } from './identity-accounts.js'
import type { Review } from './identity-provider.js'

/** The provider says that there is no such applicant. */
export interface MissingApplicant {
  /** When that was first noted, in unix milliseconds. */
  readonly since: number
  /** A webhook reported its deletion. */
  readonly reported: boolean
  /** The applicant counts as gone: `review` is null from then on. */
  readonly confirmed: boolean
}

/** What is known of a verification. */
export interface Verification {
  /** The integration that shared it; null: there is none, or its user did it directly. It outlives its applicant. */
  readonly donor: string | null
  readonly applicantId: string | null
  /** Number of the redemption that the applicant came from; null: there is none. */
  readonly attachedNumber: number | null
  /** When the applicant was attached, in unix milliseconds by the service's clock; null: never. */
  readonly attachedAt: number | null
  /** Where it stands; null: there is none, or the applicant is gone. */
  readonly review: Review | null
  /** The provider's time of `review` in unix milliseconds: what is older changes nothing. */
  readonly reviewedAt: number | null
  /** A review without a time that proves it newer: it counts once the provider repeats it. */
  readonly doubt: Review | null
  /** The provider switched the applicant off, or on again, at that time of its own; null: it never said. */
  readonly presence: { readonly isActive: boolean; readonly at: number } | null
  readonly missing: MissingApplicant | null
}

/**
 * The person behind an e-mail address for as long as the address stays theirs, with what was shared for it. Without an
 * address: the direct verification of an account.
 */
export interface Subject extends Verification {
  readonly id: string
  /** Keyed hash of the address, 64 lowercase hex digits; null: the direct verification of its account. */
  readonly emailKey: string | null
  /** Null: a placeholder. */
  readonly accountId: string | null
  /** The account proved the address. */
  readonly proved: boolean
  /** The account gave the address up: who proves it next is somebody else. */
  readonly closed: boolean
  /** Number of the newest redemption; 0: there was none. */
  readonly redemptions: number
  /** Grows with every change of the verification. */
  readonly revision: number
}

/** A subject to store. Its verification is empty. */
export type NewSubject = Pick<Subject, 'id' | 'emailKey' | 'accountId' | 'proved'> & {
  /** The address as it is stored; null where `emailKey` is. */
  readonly email: EmailAddress | null
}

/** What changes of a verification. Absent fields stay. */
export type VerificationChange = Partial<Verification> & {
  /** When the provider is polled for the review, in milliseconds from now by the store's clock; null: not at all. */
  readonly pollInMs?: number | null | undefined
}

/** What became of a redemption. */
export type RedemptionState =
  /** Its token may be on its way. With an expired lease the outcome is unknown. */
  | 'in_flight'
  /** No answer came. */
  | 'unknown'
  /** No answer came, and a look-up proves nothing: an operator must resolve it. */
  | 'unresolved'
  /** The provider knew no applicant of that name once nothing could be on its way any more. */
  | 'absent'
  /** The provider refused, or nothing was sent: no token was used. */
  | 'refused'
  /** Its applicant was attached to the subject. */
  | 'attached'
  /** Its applicant is not attached: the subject had a newer one, or one of another donor. */
  | 'surplus'
  /** The name belongs to an applicant that is older than the redemption. */
  | 'foreign'

/** One use of a share token at the provider, under a name of its own. No name is ever forgotten or used twice. */
export interface RedemptionRecord {
  readonly externalUserId: string
  readonly subjectId: string
  /** From 1, without a repetition in one subject. */
  readonly number: number
  /** Whose token it is: the donor, if it is redeemed. */
  readonly integrationAddress: string
  /** The level that was asked for; null: none was named. */
  readonly levelName: string | null
  /** Whether a look-up by name finds its applicant. */
  readonly isFindable: boolean
  /** When it began, in unix milliseconds by the clock that signs its request. */
  readonly startedAt: number
  /** The lease runs: the request may still land at the provider. */
  readonly isLeased: boolean
  readonly state: RedemptionState
  /** Its applicant, once that is known. */
  readonly applicantId: string | null
}

/** A redemption to store. It is `in_flight`. */
export type NewRedemption = Omit<RedemptionRecord, 'isLeased' | 'state' | 'applicantId'> & {
  /** How long the lease runs, in milliseconds by the store's clock; its first look-up is due then. */
  readonly leaseMs: number
}

/** What changes of a redemption. */
export interface RedemptionChange {
  readonly state?: RedemptionState | undefined
  readonly applicantId?: string | undefined
  /** When the name is looked up next, in milliseconds from now by the store's clock; null: never. */
  readonly lookUpInMs?: number | null | undefined
}

/** How a share went, as the log keeps it. */
export type ShareOutcome =
  /** A redemption began. */
  | 'started'
  /** The provider redeemed the token. */
  | 'redeemed'
  /** A look-up found the applicant of a redemption with an unknown outcome. */
  | 'found'
  /** A webhook showed it. */
  | 'reported'
  /** An operator resolved it. */
  | 'resolved'
  | 'already_approved'
  | 'in_flight'
  | 'concurrent'
  | 'not_donated'
  | 'rejected'
  | 'unknown'
  | 'unresolved'
  | 'absent'
  | 'foreign'
  | 'surplus'
  /** Too late to send within the lease: nothing was sent. */
  | 'late'
  /** Other requests were faster several times in a row. */
  | 'exhausted'
  | 'misconfigured'
  | 'throttled'
  | 'unavailable'

/** One entry of the log of shares, without e-mail and token. */
export interface ShareRecord {
  /** Unix milliseconds. */
  readonly at: number
  readonly integrationAddress: string
  readonly subjectId: string
  readonly outcome: ShareOutcome
  readonly externalUserId: string | null
  /** The provider's number for a refusal. */
  readonly providerCode: number | null
}

/** Something that the provider or an operator said of an applicant. */
export interface VerdictRecord {
  /** When it was noted, in unix milliseconds. */
  readonly notedAt: number
  readonly subjectId: string
  readonly applicantId: string
  readonly source: 'redemption' | 'look_up' | 'webhook' | 'poll' | 'operator'
  readonly change: 'review' | 'activated' | 'deactivated' | 'deleted' | 'missing' | 'back'
  /** The provider's time in unix milliseconds, or null. */
  readonly at: number | null
  readonly review: Review | null
  /** Whether it counted. */
  readonly outcome: 'applied' | 'older' | 'doubtful' | 'surplus'
}

/** A subject as an operator sees it. */
export interface SubjectView extends Subject {
  /** A redemption of it is in flight or its outcome is unknown. */
  readonly isOpen: boolean
}

/** What an operator asks for: all, or what belongs to an address. */
export interface IdentityQuery {
  /** Keyed hash of the address. */
  readonly emailKey?: string | undefined
  readonly limit: number
}

/** Which subjects an operator asks for. */
export interface SubjectQuery extends IdentityQuery {
  readonly id?: string | undefined
  readonly accountId?: string | undefined
  /** Those behind this one, in the order of the list. */
  readonly afterId?: string | undefined
}

/** Reads of committed rows. */
export interface IdentityStore {
  /** By id, at most `limit`. */
  subjects(query: SubjectQuery): Promise<SubjectView[]>
  /** The log of shares, newest first. */
  shares(query: IdentityQuery): Promise<ShareRecord[]>
  /** Redemptions, newest first. */
  redemptions(query: IdentityQuery): Promise<RedemptionRecord[]>
  /** What was said of applicants, newest first. */
  verdicts(query: IdentityQuery): Promise<VerdictRecord[]>
  /** Names of redemptions that are to be looked up now, longest due first. */
  dueLookUps(limit: number): Promise<{ readonly externalUserId: string; readonly subjectId: string }[]>
  /** Subjects whose review is to be polled now, longest due first. */
  duePolls(limit: number): Promise<{ readonly subjectId: string; readonly applicantId: string }[]>
  /** How many applicants are missing and not confirmed to be. */
  countMissing(): Promise<number>
  /** Forgets up to `limit` events of a time before `before`, in unix milliseconds. Resolves how many. */
  forgetEvents(before: number, limit: number): Promise<number>
}

/** Whose persons a transaction locks. */
export interface PersonQuery {
  /** The person of the open subject of an address. */
  readonly emailKey?: string | undefined
  /** The persons of accounts, also of such that have no subject. */
  readonly accountIds?: readonly string[] | undefined
  /** The person of a subject. */
  readonly subjectId?: string | undefined
}

/** The operations inside a transaction. */
export interface IdentityTransaction {
  /**
   * The open subject of an address; where there is none, a placeholder with the id `freshId`. One statement that writes
   * one row in both cases.
   * Call it in a transaction of its own: it keeps the row of a subject whose person is not locked.
   */
  ensureSubject(email: EmailAddress, freshId: string): Promise<Subject>
  /**
   * Locks persons until the transaction ends, and resolves all their subjects, in the order in which they were made. A
   * *person* is all subjects of one account, open and closed and direct, or one placeholder. Nobody else changes or
   * joins them meanwhile. Call it before other writes, and again to read them anew.
   */
  lockPersons(query: PersonQuery): Promise<Subject[]>
  /** Stores a subject. Rejects when its address has an open one, or its account a direct one. */
  insertSubject(subject: NewSubject): Promise<Subject>
  /** Changes whose a locked subject is. */
  setOwner(subjectId: string, owner: Partial<Pick<Subject, 'accountId' | 'proved' | 'closed'>>): Promise<void>
  /** Changes the verification of a locked subject, and adds 1 to its revision. */
  changeVerification(subjectId: string, change: VerificationChange): Promise<void>
  /** The subject with that applicant, read without a lock; or null. */
  subjectOf(applicantId: string): Promise<Subject | null>
  /** Stores a redemption and its number in its subject. Rejects when the name was used before. */
  addRedemption(redemption: NewRedemption): Promise<void>
  /** Changes a redemption. One that is `attached` keeps its state and its applicant. */
  changeRedemption(externalUserId: string, change: RedemptionChange): Promise<void>
  /** The redemption of that name, or null. */
  redemption(externalUserId: string): Promise<RedemptionRecord | null>
  /** The redemption that an applicant came from: the newest that is `attached` with its id, or null. */
  redemptionOf(applicantId: string): Promise<RedemptionRecord | null>
  /**
   * Redemptions of subjects that may have used their token although nobody knows: `in_flight`, `unknown`, `unresolved`,
   * and `absent` where they began since `absentSince`, in unix milliseconds. At most `limit`, oldest first; where there
   * are more, absent ones are left out first, then the oldest.
   */
  openRedemptions(query: {
    readonly subjectIds: readonly string[]
    readonly absentSince: number
    readonly limit: number
  }): Promise<RedemptionRecord[]>
  /** Adds to the log of shares. */
  logShare(entry: ShareRecord): Promise<void>
  /** Keeps what was said of an applicant. */
  noteVerdict(entry: VerdictRecord): Promise<void>
  /** Notes an event of the provider. Resolves false when it was noted before. */
  noteEvent(eventKey: string, at: number): Promise<boolean>
}
