/** Verifications between rows and objects. @module */
import type { MissingApplicant, RedemptionClaim, Review, Verification } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import { integer, nullableInteger, unpack } from '../internal/values.js'
import type { VerificationRow } from '../schema/identity-tables.js'
import type { Integer } from '../schema/integer.js'

/** The columns of {@link StoredVerification}, but the one that the clock decides. */
export const verificationColumns =
  'account_id, donor, applicant_id, attempt, review, reviewed_at, doubt, presence_at, is_active, missing_since, missing_told, ' +
  'missing_confirmed, attempts, claim_token, claim_by, claim_name'

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
    attempt: nullableInteger(row.attempt),
    review: unpack<Review>(row.review),
    reviewedAt: nullableInteger(row.reviewed_at),
    doubt: unpack<Review>(row.doubt),
    presence: presenceOf(row),
    missing: missingOf(row),
    attempts: integer(row.attempts),
    claim: claimOf(row),
  }
}

function presenceOf({ presence_at, is_active }: StoredVerification): Verification['presence'] {
  if (presence_at === null || is_active === null) return null
  return { isActive: integer(is_active) === 1, at: integer(presence_at) }
}

function missingOf({ missing_since, missing_told, missing_confirmed }: StoredVerification): MissingApplicant | null {
  if (missing_since === null || missing_told === null || missing_confirmed === null) return null
  return {
    since: integer(missing_since),
    told: integer(missing_told) === 1,
    confirmed: integer(missing_confirmed) === 1,
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
