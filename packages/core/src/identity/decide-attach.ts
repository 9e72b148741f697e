/** Whether the applicant of an attempt takes its place at an account. Source: INTERFACE 3 (KYC attachment); docs/decisions/identity.md. @module */
import type { RedemptionAttempt, Verification } from '../ports/store-verifications.js'
import { isRejected } from './decide-share.js'

/**
 * Decides: nobody else donated, and no newer attempt is attached. What came along with an address names no attempt of the account: it gives way to the attempt
 * that was claimed to replace it, whatever it turned into since, and to any other once it was rejected or is gone, as a token may be redeemed then.
 */
export function mayAttach(
  { donor, applicantId, attempt: attached, review }: Pick<Verification, 'donor' | 'applicantId' | 'attempt' | 'review'>,
  { integrationAddress, number, replaces }: Pick<RedemptionAttempt, 'integrationAddress' | 'number' | 'replaces'>,
): boolean {
  if (donor === null) return true
  if (donor !== integrationAddress) return false
  if (attached !== null) return number > attached
  return replaces === applicantId || review === null || isRejected(review)
}
