/** The ports to an identity provider and to a host's own users. Source: docs/interface.md 4.2. @module */
import type { ShareResponse } from '@payment-integration/contract'
import type { SealedSecret } from '../secrets/keys.js'

/** The status of a verification, as in the contract. */
export type Review = Omit<ShareResponse, 'reused'>

/** A review with its level and the time of its verdict. */
export interface DatedReview {
  readonly review: Review
  /** The provider's own time of a verdict in unix milliseconds; null when it names none. */
  readonly reviewedAt: number | null
  /** The level of the review; null when the provider names none: it counts for every level. @default null */
  readonly levelName?: string | null | undefined
}

/** The service's own applicant at the provider. Fields are null or absent when the provider names none. */
export interface Applicant extends Pick<DatedReview, 'levelName'> {
  readonly applicantId: string
  /** Null: the check has just begun. */
  readonly review: Review | null
  /** The provider's own time of a verdict, in unix milliseconds. @default null */
  readonly reviewedAt?: number | null | undefined
  /** When the provider made the applicant, in unix milliseconds by its clock. @default null */
  readonly createdAt?: number | null | undefined
}

/** Why the provider did nothing. */
export type ProviderRejection =
  /** A bad token: expired, used, not approved, or no step in common. `message`: the provider's, for the integrator. */
  | { readonly kind: 'rejected'; readonly message: string; readonly providerCode: number | null }
  /** Bad credentials or set-up of this service: an operator must act. */
  | {
      readonly kind: 'misconfigured'
      readonly reason: string
      /** Further fields for the log, such as the status; no token and no text of the provider. */
      readonly facts?: Readonly<Record<string, string | number>> | undefined
    }
  /** Too many requests. */
  | { readonly kind: 'throttled'; readonly retryAfterMs: number | null }

/** The outcome of a redemption. */
export type RedeemResult =
  | { readonly kind: 'redeemed'; readonly applicant: Applicant }
  | ProviderRejection
  /** The request was not sent: `sendBy` had passed. */
  | { readonly kind: 'unsent' }
  /** No readable answer: the token may have been redeemed. A look-up by `find` shows it. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** The result of a poll or look-up, which changes nothing at the provider. */
export type ProviderAnswer<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | Exclude<ProviderRejection, { kind: 'rejected' }>
  | { readonly kind: 'unavailable'; readonly reason: string }

/** A share token to redeem, and the limits of the request. */
export interface RedeemRequest {
  readonly shareToken: string
  /** The name of the new applicant at the provider. */
  readonly externalUserId: string
  /** Unix milliseconds by the service's clock. A request that is not signed by then is not sent. */
  readonly sendBy: number
  /** The integration that shared the token, for fair turns at the provider; not sent there. @default none */
  readonly integrationAddress?: string | undefined
}

/** The identity provider. No call rejects; each ends within a time that the adapter bounds. */
export interface IdentityProvider {
  /** The level that redemptions request; null: none. @default null */
  readonly levelName?: string | null | undefined
  /** Whether applicants can be found by external user id. If not, an empty look-up proves nothing. @default true */
  readonly findsByName?: boolean | undefined
  /**
   * Redeems a share token for an applicant named `externalUserId`. The provider must carry out a request within
   * `redemptionWindowMs` after its signature, or never. A provider that rejects old signatures guarantees that.
   */
  redeem(request: RedeemRequest): Promise<RedeemResult>
  /**
   * The applicant with exactly this external user id, or null.
   * `integrationAddress`: the integration whose request waits, absent for a poll. It is not sent.
   */
  find(externalUserId: string, integrationAddress?: string): Promise<ProviderAnswer<Applicant | null>>
  /** An applicant's review; null: the provider does not know the applicant, perhaps by a fault of our set-up. */
  review(applicantId: string): Promise<ProviderAnswer<DatedReview | null>>
}

/** An e-mail address, normalized. */
export interface EmailAddress {
  /** The address itself; it is stored sealed, and written to no log. */
  readonly address: string
  /** Its keyed hash, 64 lowercase hex digits: one for all spellings, unchanged by a new master key. */
  readonly key: string
  /** The sealed address, for storage. */
  readonly sealed: SealedSecret
}

/** An account of the host. */
export interface IdentityAccount {
  readonly accountId: string
  /** The account proved the address that it carries. */
  readonly emailVerified: boolean
}

export interface AddressOwner {
  readonly accountId: string
  /** The account proved the address; false: the account only carries it. */
  readonly proved: boolean
}

/** How an address was proven. */
export type EmailProof =
  | { readonly kind: 'code' }
  | { readonly kind: 'attestation'; readonly integrationAddress: string }

/** The port to a host's own users. The host also reports each proof by `identity.reportProof`. */
export interface IdentityAccounts {
  /**
   * The account that proved the address; else the oldest that carries it; else null. Earlier shares do not matter.
   * The look-up must take the same time in all cases, because clients can measure it.
   */
  findAddressOwner(email: EmailAddress): Promise<AddressOwner | null>
}
