/**
 * The port to the identity provider. Source: docs/interface.md 3, 4.2; docs/decisions/identity.md.
 * @module
 */
import type { ShareResponse } from '@payment-integration/contract'

/** The status of a verification, as in the contract. */
export type Review = Omit<ShareResponse, 'reused'>

/** A review with its time. */
export interface DatedReview {
  readonly review: Review
  /** The provider's own time of a verdict in unix milliseconds; null when it names none. */
  readonly reviewedAt: number | null
  /** The level of the review; null or absent when the provider names none: it counts for every level. */
  readonly levelName?: string | null | undefined
}

/** The service's own applicant at the provider. */
export interface Applicant {
  readonly applicantId: string
  /** Null when the provider names none: the check has just begun. */
  readonly review: Review | null
  /** The provider's own time of a verdict in unix milliseconds; null or absent when it names none. */
  readonly reviewedAt?: number | null | undefined
  /** When the provider made it, in unix milliseconds by its clock; null or absent when it names no time. */
  readonly createdAt?: number | null | undefined
  /** The level of its check; null or absent when the provider names none. */
  readonly levelName?: string | null | undefined
}

/** Why the provider did nothing. */
export type ProviderRefusal =
  /** A bad token: expired, used, not approved, no overlap. `message` is the provider's, for the integrator alone. */
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

/** The result of a redemption. */
export type RedeemResult =
  | { readonly kind: 'redeemed'; readonly applicant: Applicant }
  | ProviderRefusal
  /** It was not sent: `sendBy` had passed. */
  | { readonly kind: 'unsent' }
  /** No readable answer: the token may have been redeemed. `find` answers it. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** The result of a poll or look-up, which changes nothing at the provider. */
export type Answer<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | Exclude<ProviderRefusal, { kind: 'rejected' }>
  | { readonly kind: 'unavailable'; readonly reason: string }

/** A token to redeem. */
export interface RedeemRequest {
  readonly shareToken: string
  /** The name for the applicant. */
  readonly externalUserId: string
  /** Unix milliseconds by the service's clock. A request that is not signed by then is not sent. */
  readonly sendBy: number
  /** The integration that shared the token, for fair turns at the provider. It is not sent there. */
  readonly integrationAddress?: string | undefined
}

/** The identity provider. No call rejects; each ends within a time that the adapter bounds. */
export interface IdentityProvider {
  /** The level in redemptions; null or absent: none. */
  readonly levelName?: string | null | undefined
  /** Whether applicants can be found by name. If not, an empty look-up proves nothing. @default true */
  readonly findsByName?: boolean | undefined
  /**
   * Redeems a share token for an applicant of that name. The provider must carry out a request within
   * `landingMs` after its signature, or never. A provider that rejects old signatures guarantees that.
   */
  redeem(request: RedeemRequest): Promise<RedeemResult>
  /**
   * The applicant of exactly that name, or null.
   * @param integrationAddress - The integration whose request waits; absent: the service's own poll. It is not sent.
   */
  find(externalUserId: string, integrationAddress?: string): Promise<Answer<Applicant | null>>
  /** An applicant's review; null: the provider does not know the applicant, perhaps by a fault of our set-up. */
  review(applicantId: string): Promise<Answer<DatedReview | null>>
}
