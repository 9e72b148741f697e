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

/** Accounts by e-mail address. */
export interface IdentityAccounts {
  /**
   * The account that an address resolves to: the one with verified ownership; else the oldest that carries it unverified; else a placeholder, made
   * on the spot. Must do the same work in all three cases: the time it takes is seen outside.
   */
  resolve(email: EmailAddress): Promise<{ readonly accountId: string }>
  /**
   * Gives a proven address to an account: the one that owns it already; else the placeholder, which becomes a registered account; else the oldest that carries it
   * unverified; else a new one. Others that carry it unverified keep their account and lose the address.
   */
  claim(email: EmailAddress, proof: EmailProof): Promise<IdentityAccount>
}
