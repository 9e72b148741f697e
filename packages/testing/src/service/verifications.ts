/**
 * Identity verifications of the service under test, by e-mail. Source: docs/interface.md 2.5, 3 (KYC attachment).
 * @module
 */
import { type ShareResponse, shareRejectedMessage } from '@payment-integration/contract'
import { emailKey } from './email-key.js'

/** Status of a verification. */
export type TestReview = Omit<ShareResponse, 'reused'>

/** Controls identity verifications. */
export interface IdentityControl {
  /** Whether sharing is on; off answers 404. @default true */
  enabled: boolean
  /**
   * Sets the provider's verdict on the verification that was shared for an address.
   * @throws {RangeError} When there is none.
   */
  decide(
    email: string,
    verdict: 'GREEN' | 'RED',
    reasons?: Partial<Pick<TestReview, 'rejectType' | 'rejectLabels'>>,
  ): void
  /** Sets an intermediate status without a verdict. @throws {RangeError} As `decide`. */
  move(email: string, reviewStatus: 'init' | 'pending' | 'prechecked' | 'onHold'): void
  /**
   * Another integration shared this user's verification: every share answers 409.
   * @throws {RangeError} When the text is not an e-mail address.
   */
  verifyElsewhere(email: string): void
  /** The provider rejects this token with this description: 422. */
  rejectToken(token: string, message: string): void
  /** Redeemed tokens, oldest first. */
  readonly redeemed: readonly string[]
}

/** A verification: its status and the integration that shared it, null for none. */
interface Verification {
  readonly donor: string | null
  readonly review: TestReview
}

/** The result of a share. */
export type Shared =
  | { readonly kind: 'answer'; readonly response: ShareResponse }
  | { readonly kind: 'unavailable' }
  /** The text is not an e-mail address. */
  | { readonly kind: 'no_address' }
  | { readonly kind: 'rejected'; readonly message: string }

/** Verifications and the rules of sharing. */
export interface VerificationState {
  readonly control: IdentityControl
  share(caller: string, email: string, token: string): Shared
}

const justRedeemed: TestReview = { reviewStatus: 'init', reviewAnswer: null, rejectType: null, rejectLabels: [] }

/** Makes an empty list: sharing is on, and every token is valid once. */
export function createVerificationState(): VerificationState {
  const verifications = new Map<string, Verification>()
  const rejected = new Map<string, string>()
  const redeemed: string[] = []

  function review(email: string, next: Partial<TestReview>): void {
    const key = emailKey(email) ?? ''
    const found = verifications.get(key)
    if (found === undefined) throw new RangeError('Nothing was shared for this address.')
    verifications.set(key, { ...found, review: { ...justRedeemed, ...next } })
  }
  function verifyElsewhere(email: string): void {
    const key = emailKey(email)
    if (key === null) throw new RangeError('The service takes this for no e-mail address.')
    verifications.set(key, { donor: null, review: justRedeemed })
  }
  function redeem(caller: string, key: string, token: string): Shared {
    const description = redeemed.includes(token) ? 'Token is invalid: it was used before' : rejected.get(token)
    const former = verifications.get(key)?.review ?? null
    if (description !== undefined) return { kind: 'rejected', message: shareRejectedMessage(description, former) }
    redeemed.push(token)
    verifications.set(key, { donor: caller, review: justRedeemed })
    return { kind: 'answer', response: { ...justRedeemed, reused: true } }
  }

  return {
    control: {
      enabled: true,
      redeemed,
      decide: (email, reviewAnswer, reasons = {}) =>
        review(email, { reviewStatus: 'completed', reviewAnswer, ...(reviewAnswer === 'RED' ? reasons : {}) }),
      move: (email, reviewStatus) => review(email, { reviewStatus }),
      verifyElsewhere,
      rejectToken: (token, message) => void rejected.set(token, message),
    },
    share(caller, email, token) {
      const key = emailKey(email)
      if (key === null) return { kind: 'no_address' }
      const found = verifications.get(key)
      if (found !== undefined && found.donor !== caller) return { kind: 'unavailable' }
      if (found === undefined || found.review.reviewAnswer === 'RED') return redeem(caller, key, token)
      return { kind: 'answer', response: { ...found.review, reused: false } }
    },
  }
}
