/** Verifications between rows and objects. @module */
import type { RedemptionClaim, Review, Verification } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import { integer, nullableInteger, unpack } from '../internal/values.js'
import type { Integer, VerificationRow } from '../schema/tables.js'

/** The columns of {@link StoredVerification}, but the one that the clock decides. */
export const verificationColumns =
  'account_id, donor, applicant_id, review, reviewed_at, attempts, claim_token, claim_by, claim_name'

/** A row with {@link verificationColumns}, and whether the lease of its claim is over. */
export interface StoredVerification extends Omit<Selectable<VerificationRow>, 'claim_until' | 'ask_at'> {
  /** 1 when it is. */
  lapsed: Integer
}

/** The verification in a row. */
export function verificationOf(row: StoredVerification): Verification {
  return {
    accountId: unpack<string>(row.account_id),
    donor: row.donor,
    applicantId: unpack<string>(row.applicant_id),
    review: unpack<Review>(row.review),
    reviewedAt: nullableInteger(row.reviewed_at),
    attempts: integer(row.attempts),
    claim: claimOf(row),
  }
}

function claimOf({ claim_token, claim_by, claim_name, lapsed }: StoredVerification): RedemptionClaim | null {
  if (claim_token === null || claim_by === null || claim_name === null) return null
  return {
    token: unpack<string>(claim_token),
    by: claim_by,
    externalUserId: unpack<string>(claim_name),
    lapsed: integer(lapsed) === 1,
  }
}
