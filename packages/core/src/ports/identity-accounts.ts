/** Accounts that verifications attach to: a host may bring its own. Source: docs/interface.md 4.2. @module */
import type { SealedSecret } from './store-integrations.js'

/** An e-mail address, normalised. */
export interface EmailAddress {
  /** The address itself; it is stored sealed, and written to no log. */
  readonly address: string
  /** Keyed hash of it, 64 lowercase hex digits: the same for every spelling, and after a change of the master key. */
  readonly key: string
  /** The address for storing. */
  readonly sealed: SealedSecret
}

/** An account. */
export interface IdentityAccount {
  readonly accountId: string
  /** It proved the address that it carries. */
  readonly emailVerified: boolean
}

/** Whose an address is. */
export interface AddressOwner {
  readonly accountId: string
  /** The account proved the address; false: it only carries it. */
  readonly proved: boolean
}

/** How somebody proved an address. */
export type EmailProof =
  | { readonly kind: 'code' }
  | { readonly kind: 'attestation'; readonly integrationAddress: string }

/** What a host with users of its own brings. It also reports each proof by `identity.proved`. */
export interface IdentityAccounts {
  /**
   * The account that owns an address verified; else the oldest that carries it; else null. Must do the same work in all
   * cases, as its time shows outside. What was shared for the address before is for the service to know.
   */
  resolve(email: EmailAddress): Promise<AddressOwner | null>
}

/** Why an address was not given to an account. */
export type ProofRefusal =
  /** No code is out for the address: none was asked for, or it was used, replaced or tried too often. */
  | 'no_code'
  | 'code_expired'
  | 'code_wrong'
  /** Attested, but the address has an account already. */
  | 'not_placeholder'
  /** Attested by an integration that did not share the placeholder's verification. */
  | 'not_donor'
  /** The account that it is proven for is none. */
  | 'unknown_account'

/** Something that happened to an account, without e-mail and code. */
export interface AccountEvent {
  /** Unix time in milliseconds. */
  readonly at: number
  readonly action: 'registered' | 'code_issued' | 'proved' | 'refused' | 'verified'
  /** Keyed hash of the e-mail address; null where the event is about the account alone. */
  readonly emailKey: string | null
  /** Null where there is none. */
  readonly accountId: string | null
  /** How the address was proven, or was to be. */
  readonly proof: EmailProof['kind'] | null
  /** The integration that attested, or null. */
  readonly by: string | null
  /** Why it was refused, or null. */
  readonly reason: ProofRefusal | null
}

/** Reads of the store's own accounts, for hosts that bring no users. */
export interface IdentityAccountStore {
  /** What happened, newest first; of an e-mail's keyed hash, or all. */
  events(query: { readonly emailKey?: string | undefined; readonly limit: number }): Promise<AccountEvent[]>
}

/** A one-time code as it is stored. */
export interface StoredEmailCode {
  /** Keyed hash of the address and the code. */
  readonly hash: string
  /** Unix time in milliseconds: from then on it is not taken. */
  readonly expiresAt: number
  /** How often it may still be tried. */
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
  /** Makes an account, new or known, the one owner of an address. Others that carry the address lose it. */
  own(email: EmailAddress, accountId: string): Promise<void>
  /** The code of an address, locked until the transaction ends; null: none. Call it before persons are locked. */
  code(emailKey: string): Promise<StoredEmailCode | null>
  /** Writes the code of an address in place of the one before; null: none is out any more. */
  setCode(emailKey: string, code: StoredEmailCode | null): Promise<void>
  /** Logs what happened. */
  log(event: AccountEvent): Promise<void>
}
