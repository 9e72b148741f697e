/** Accounts that verifications attach to: a port, so that a host app brings its own users. Source: INTERFACE 4.2 (account resolution order). @module */
import type { SealedSecret } from './store-integrations.js'

/** An e-mail address, normalised. */
export interface EmailAddress {
  /** The address itself; it is stored sealed, and written to no log. */
  readonly address: string
  /** Keyed hash of it, 64 lowercase hex digits: the same for every spelling, now and after a change of the master key. */
  readonly key: string
  /** The address for storing. */
  readonly sealed: SealedSecret
}

/** An account. */
export interface IdentityAccount {
  readonly accountId: string
  /** A placeholder was made by a share, and is claimed by whoever proves the address. */
  readonly kind: 'placeholder' | 'registered'
  readonly emailVerified: boolean
}

/** How somebody proved an address. */
export type EmailProof =
  | { readonly kind: 'code' }
  | { readonly kind: 'attestation'; readonly integrationAddress: string }

/** What a host with users of its own brings. */
export interface IdentityAccounts {
  /**
   * The account that an address resolves to: the one with verified ownership; else the one that it resolved to before, while that is a placeholder or still
   * carries the address; else the oldest that carries it unverified; else a placeholder, made on the spot. Must do the same work in all cases: the
   * time it takes is seen outside.
   */
  resolve(email: EmailAddress): Promise<{ readonly accountId: string }>
}

/** Why an address was not given to an account. */
export type ProofRefusal =
  /** No code is out for the address: none was asked for, or it was used, replaced or tried too often. */
  | 'no_code'
  | 'code_expired'
  | 'code_wrong'
  /** Attested, but the account is somebody's already. */
  | 'not_placeholder'
  /** Attested by an integration that did not share the account's verification. */
  | 'not_donor'
  /** The account that it is proven for is none. */
  | 'unknown_account'

/** Something that happened to an account, without e-mail and code. */
export interface AccountEvent {
  /** Unix time in milliseconds. */
  readonly at: number
  readonly action: 'registered' | 'code_issued' | 'claimed' | 'refused' | 'verified'
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

/** Accounts in the store, for hosts that bring no users of their own. */
export interface IdentityAccountStore extends IdentityAccounts {
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

/** Accounts inside a transaction. Take the code first, then the address, then verifications: everybody does, so nobody waits in a ring. */
export interface IdentityAccountTransaction {
  /**
   * The account that the address resolves to, as {@link IdentityAccounts.resolve} has it, with the address held until the transaction ends: nobody else gives it to
   * another account meanwhile.
   * @param freshId - The id of a placeholder, should one be made.
   */
  hold(email: EmailAddress, freshId: string): Promise<IdentityAccount>
  /**
   * The same by the keyed hash of an address, for those who know no more of it. Resolves the id of the account, or null, holding nothing, when the address
   * was never resolved.
   */
  holdKnown(emailKey: string, freshId: string): Promise<string | null>
  /** A registered account, or null. */
  find(accountId: string): Promise<IdentityAccount | null>
  /** Keyed hash of the address that a registered account carries; null where it carries none, or is none. */
  carried(accountId: string): Promise<string | null>
  /** Whether an account has ever proved an address, be it its own no more. */
  hasProved(accountId: string, emailKey: string): Promise<boolean>
  /** Makes a registered account that carries the address unverified. */
  register(email: EmailAddress, accountId: string): Promise<void>
  /**
   * Makes an account the one owner of an address; a placeholder is registered by that. Others that carry it keep their account and lose the address. Call
   * after {@link hold}.
   */
  own(email: EmailAddress, accountId: string): Promise<void>
  /** The code that is out for an address, held until the transaction ends; null: none. */
  code(emailKey: string): Promise<StoredEmailCode | null>
  /** Writes the code of an address in place of the one before; null: none is out any more. */
  setCode(emailKey: string, code: StoredEmailCode | null): Promise<void>
  /** Logs what happened. */
  log(event: AccountEvent): Promise<void>
}
