/** Accounts that verifications attach to: a host may bring its own. Source: docs/interface.md 4.2. @module */
import type { SealedSecret } from '../secrets/key-store.js'

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
