/** Accounts that verifications attach to: a host may bring its own. Source: docs/interface.md 4.2. @module */
import type { SealedSecret } from '../integrations/integration.js'

/** An e-mail address, normalised. */
export interface EmailAddress {
  /** The address itself; it is stored sealed, and written to no log. */
  readonly address: string
  /** Its keyed hash, 64 lowercase hex digits: one for all spellings, unchanged by a new master key. */
  readonly key: string
  /** The sealed address, for storage. */
  readonly sealed: SealedSecret
}

/** An account. */
export interface IdentityAccount {
  readonly accountId: string
  /** The account proved the address that it carries. */
  readonly emailVerified: boolean
}

/** The owner of an address. */
export interface AddressOwner {
  readonly accountId: string
  /** The account proved the address; false: it only carries it. */
  readonly proved: boolean
}

/** How an address was proven. */
export type EmailProof =
  | { readonly kind: 'code' }
  | { readonly kind: 'attestation'; readonly integrationAddress: string }

/** The port to a host's own users. The host also reports each proof by `identity.proved`. */
export interface IdentityAccounts {
  /**
   * The account that proved the address; else the oldest that carries it; else null. It must take the same time in all
   * cases, because the time is visible outside. The service itself knows earlier shares.
   */
  resolve(email: EmailAddress): Promise<AddressOwner | null>
}

/** Why an address was not given to an account. */
export type ProofRefusal =
  /** The address has no code: none was requested, or it was used, replaced or tried too often. */
  | 'no_code'
  | 'code_expired'
  | 'code_wrong'
  /** The attested address has an account already. */
  | 'not_placeholder'
  /** The attesting integration is not the donor of the placeholder's verification. */
  | 'not_donor'
  /** The proving account does not exist. */
  | 'unknown_account'

/** An event of an account, without e-mail address and code. */
export interface AccountEvent {
  /** Unix time in milliseconds. */
  readonly at: number
  readonly action: 'registered' | 'code_issued' | 'proved' | 'refused' | 'verified'
  /** Keyed hash of the e-mail address; null where the event is about the account alone. */
  readonly emailKey: string | null
  /** Null where there is none. */
  readonly accountId: string | null
  /** The kind of the proof, also of a refused one. */
  readonly proof: EmailProof['kind'] | null
  /** The integration that attested, or null. */
  readonly by: string | null
  /** Why it was refused, or null. */
  readonly reason: ProofRefusal | null
}

/** Reads of the store's own accounts, for hosts that bring no users. */
export interface IdentityAccountStore {
  /** Events, newest first; of one address by its keyed hash, or all. */
  events(query: { readonly emailKey?: string | undefined; readonly limit: number }): Promise<AccountEvent[]>
}

/** A one-time code as stored. */
export interface StoredEmailCode {
  /** Keyed hash of the address and the code. */
  readonly hash: string
  /** Unix time in milliseconds; from then on the code is rejected. */
  readonly expiresAt: number
  /** Remaining tries. */
  readonly triesLeft: number
}

/** The store's own accounts inside a transaction. */
export interface IdentityAccountTransaction {
  /** As {@link IdentityAccounts.resolve}, by the keyed hash. */
  resolve(emailKey: string): Promise<AddressOwner | null>
  /** An account, or null. */
  find(accountId: string): Promise<IdentityAccount | null>
  /** Makes an account that carries the address unverified. */
  register(email: EmailAddress, accountId: string): Promise<void>
  /** Makes an account, new or existing, the only owner of an address. Other accounts stop carrying it. */
  own(email: EmailAddress, accountId: string): Promise<void>
  /** The code of an address, locked until the transaction ends; null: none. Call it before persons are locked. */
  code(emailKey: string): Promise<StoredEmailCode | null>
  /** Replaces the code of an address; null: deletes it. */
  setCode(emailKey: string, code: StoredEmailCode | null): Promise<void>
  /** Logs an event. */
  log(event: AccountEvent): Promise<void>
}
