/** Whether the applicant of an attempt takes its place at an account. Source: INTERFACE 3 (KYC attachment); docs/decisions/identity.md. @module */
import type { RedemptionAttempt, Verification } from '../ports/store-verifications.js'
import { isRejected } from './decide-share.js'

/** The attempt that an applicant came of. */
export interface AttachFacts extends Pick<RedemptionAttempt, 'integrationAddress' | 'number'> {
  /** Whether it retries what came along: the claim of the account is its own, or it was made for the same address since. */
  readonly isRetry: boolean
}

/**
 * Decides: nobody else donated, and no newer attempt is attached. What came along with an address names no attempt of the account: it gives way to its
 * retry, and to any other once it was rejected or is gone, as a token may be redeemed then.
 */
export function mayAttach(
  { donor, attempt: attached, review }: Pick<Verification, 'donor' | 'attempt' | 'review'>,
  { integrationAddress, number, isRetry }: AttachFacts,
): boolean {
  if (donor === null) return true
  if (donor !== integrationAddress) return false
  return attached === null ? isRetry || review === null || isRejected(review) : number > attached
}
