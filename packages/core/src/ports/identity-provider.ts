/** What the service needs from the identity provider. Source: INTERFACE 3 (KYC attachment), 4.2; DESIGN section 3 (identity provider). @module */
import type { ShareResponse } from '@payment-integration/contract'

/** Where a verification stands, in the words of the contract. */
export type Review = Omit<ShareResponse, 'reused'>

/** The service's own applicant at the provider. */
export interface Applicant {
  readonly applicantId: string
  /** Null when the provider does not say: the check has just begun. */
  readonly review: Review | null
}

/** Why nothing was done. */
export type ProviderRefusal =
  /** The token: expired, used, not approved, no overlap. `message` is the provider's own, for the integrator alone. */
  | { readonly kind: 'rejected'; readonly message: string; readonly providerCode: number | null }
  /** Our own credentials or set-up: an operator must act. */
  | { readonly kind: 'misconfigured'; readonly reason: string }
  /** Too many requests. */
  | { readonly kind: 'throttled'; readonly retryAfterMs: number | null }

/** What a redemption came to. */
export type Redemption =
  | { readonly kind: 'redeemed'; readonly applicant: Applicant }
  | ProviderRefusal
  /** No answer, or none that can be read: the token may have been redeemed. `find` tells. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** What a question came to. Nothing is changed by asking. */
export type Answer<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | Exclude<ProviderRefusal, { kind: 'rejected' }>
  | { readonly kind: 'unavailable'; readonly reason: string }

/** The identity provider. No call rejects; each ends within a time that the adapter bounds. */
export interface IdentityProvider {
  /** Redeems a share token for an applicant of that name. */
  redeem(request: { readonly shareToken: string; readonly externalUserId: string }): Promise<Redemption>
  /** The applicant of that name, or null when there is none. */
  find(externalUserId: string): Promise<Answer<Applicant | null>>
  /** Where an applicant's verification stands; null: the provider knows no such applicant any more. */
  review(applicantId: string): Promise<Answer<Review | null>>
}
