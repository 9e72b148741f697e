/** The store's own accounts, for hosts that bring no users. Source: docs/interface.md 4.2. @module */
import type { AddressOwner, EmailAddress, EmailProof, IdentityAccount } from '../ports/identity-accounts.js'

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
