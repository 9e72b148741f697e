/** Rows of identity verifications and accounts. @module */
import type { Generated } from 'kysely'
import type { Integer } from './integer.js'

/** One row per e-mail address that was shared or claimed: the account it resolves to, a placeholder where {@link IdentityUserRow} has none of that id. */
export interface IdentityAccountRow {
  /** Keyed hash. */
  email_key: string
  /** JSON string, as every account id here: hosts bring their own. */
  account_id: string
  email_key_version: Integer
  email_sealed: string
  created_at: Integer
  resolved_at: Integer
}

/** One row per registered account of the reference implementation. */
export interface IdentityUserRow {
  /** Order of registration. */
  id: Generated<Integer>
  account_id: string
  /** Null: it lost its address to somebody who proved it. */
  email_key: string | null
  /** 1 for the one owner of an address. */
  email_verified: Integer
  created_at: Integer
}

/** One row per account that was ever looked at. */
export interface VerificationRow {
  account_id: string
  donor: string | null
  /** JSON string. */
  applicant_id: string | null
  /** JSON object. */
  review: string | null
  reviewed_at: Integer | null
  attempts: Integer
  /** JSON string; null together with the other fields of the claim. */
  claim_token: string | null
  claim_by: string | null
  /** JSON string: the external user id. */
  claim_name: string | null
  claim_until: Integer | null
  /** When the provider is to be asked; null: not at all. */
  ask_at: Integer | null
  /** Number of the attempt that the applicant came from. */
  attempt: Generated<Integer | null>
  /** JSON object. */
  doubt: Generated<string | null>
  /** The provider's time of what `is_active` says; null together with it. */
  presence_at: Generated<Integer | null>
  is_active: Generated<Integer | null>
  /** Null together with the two below: the provider knows the applicant. */
  missing_since: Generated<Integer | null>
  missing_told: Generated<Integer | null>
  missing_confirmed: Generated<Integer | null>
}

/** One attempt that may have sent a token, under a name of its own. */
export interface RedemptionRow {
  /** JSON string. */
  external_user_id: string
  account_id: string
  /** From 1, once in each account. */
  number: Integer
  integration: string
  email_key: string
  /** JSON string. */
  level_name: string | null
  is_findable: Integer
  claimed_at: Integer
  /** JSON string. */
  replaces: string | null
  /** JSON string: the account that took the address since; null: none did. */
  taken_by: string | null
  state: string
  /** JSON string. */
  applicant_id: string | null
}

/** Something that the provider said of an applicant. */
export interface VerdictRow {
  id: Generated<Integer>
  noted_at: Integer
  account_id: string
  /** JSON string. */
  applicant_id: string
  source: string
  news: string
  /** The provider's time. */
  at: Integer | null
  /** JSON object. */
  review: string | null
  outcome: string
}

/** One logged attempt to share. */
export interface ShareAttemptRow {
  id: Generated<Integer>
  at: Integer
  integration: string
  email_key: string
  account_id: string
  outcome: string
  /** JSON string. */
  external_user_id: string | null
  provider_code: Integer | null
}

/** The one-time code that is out for an e-mail address. */
export interface EmailCodeRow {
  email_key: string
  /** Keyed hash of the address and the code. */
  hash: string
  expires_at: Integer
  tries_left: Integer
}

/** Something that happened to an account. */
export interface AccountEventRow {
  id: Generated<Integer>
  at: Integer
  action: string
  email_key: string | null
  /** JSON string. */
  account_id: string | null
  proof: string | null
  by_integration: string | null
  reason: string | null
}

/** An event of the provider that was noted. */
export interface ProviderEventRow {
  /** JSON string. */
  event_key: string
  at: Integer
}
