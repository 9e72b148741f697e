/**
 * What the service needs from the identity provider. Source: docs/interface.md 3, 4.2; docs/decisions/identity.md.
 * @module
 */
import type { ShareResponse } from '@payment-integration/contract'

/** Where a verification stands, in the words of the contract. */
export type Review = Omit<ShareResponse, 'reused'>

/** A review, and when the provider gave it. */
export interface DatedReview {
  readonly review: Review
  /** The provider's own time of a verdict in unix milliseconds; null when it does not say. */
  readonly reviewedAt: number | null
}

/** The service's own applicant at the provider. */
export interface Applicant {
  readonly applicantId: string
  /** Null when the provider does not say: the check has just begun. */
  readonly review: Review | null
  /** The provider's own time of a verdict in unix milliseconds; null or absent when it does not say. */
  readonly reviewedAt?: number | null | undefined
  /** When the provider made it, in unix milliseconds by its clock; null or absent when it does not say. */
  readonly createdAt?: number | null | undefined
  /** The level it is checked by; null or absent when the provider does not say. */
  readonly levelName?: string | null | undefined
}

/** Why nothing was done. */
export type ProviderRefusal =
  /** The token: expired, used, not approved, no overlap. `message` is the provider's own, for the integrator alone. */
  | { readonly kind: 'rejected'; readonly message: string; readonly providerCode: number | null }
  /** Our own credentials or set-up: an operator must act. */
  | {
      readonly kind: 'misconfigured'
      readonly reason: string
      /** What the log is told beside the reason, such as the status: no token and no words of the provider. */
      readonly facts?: Readonly<Record<string, string | number>> | undefined
    }
  /** Too many requests. */
  | { readonly kind: 'throttled'; readonly retryAfterMs: number | null }

/** What redeeming a token came to. */
export type RedeemResult =
  | { readonly kind: 'redeemed'; readonly applicant: Applicant }
  | ProviderRefusal
  /** It was not sent: `sendBy` had passed. */
  | { readonly kind: 'unsent' }
  /** No answer, or none that can be read: the token may have been redeemed. `find` tells. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** What a question came to. Nothing is changed by asking. */
export type Answer<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | Exclude<ProviderRefusal, { kind: 'rejected' }>
  | { readonly kind: 'unavailable'; readonly reason: string }

/** A token to redeem. */
export interface RedeemRequest {
  readonly shareToken: string
  /** The name that the applicant gets. */
  readonly externalUserId: string
  /** Unix milliseconds by the service's clock. A request that is not signed by then is not sent. */
  readonly sendBy: number
  /** Whose token it is, so that integrations may take turns in front of the provider. It is not told there. */
  readonly integrationAddress?: string | undefined
}

/** The identity provider. No call rejects; each ends within a time that the adapter bounds. */
export interface IdentityProvider {
  /** The level that redemptions ask for. Null or absent: they name none. */
  readonly levelName?: string | null | undefined
  /** Whether an applicant can be found by its name. Where not, finding nobody proves nothing. @default true */
  readonly findsByName?: boolean | undefined
  /**
   * Redeems a share token for an applicant of that name. Must carry out what it sent within `landingMs` (90 s) after
   * signing it, or never: a provider that refuses old signatures sees to that.
   */
  redeem(request: RedeemRequest): Promise<RedeemResult>
  /**
   * The applicant of that name and of no other, or null when there is none.
   * @param integrationAddress - Whose request waits for it; absent: the service's own poll. The provider is not told.
   */
  find(externalUserId: string, integrationAddress?: string): Promise<Answer<Applicant | null>>
  /** An applicant's review; null: the provider knows no such applicant, which may be the fault of our set-up. */
  review(applicantId: string): Promise<Answer<DatedReview | null>>
}
