/** Rows of identity: subjects, redemptions, persons, accounts and logs. @module */
import type { Generated } from 'kysely'
import type { Integer, JsonText } from './migration.js'

export interface IdentityTables {
  /** One row per subject: a person behind an address, or the direct verification of an account. */
  identity_subjects: {
    /** Order of creation. */
    seq: Generated<Integer>
    id: JsonText
    /** Keyed hash of the address; null together with the two below: a direct verification. */
    email_key: string | null
    email_key_version: Integer | null
    email_sealed: string | null
    /** Null: a placeholder. */
    account_id: JsonText | null
    proved: Integer
    closed: Integer
    /** Number of the newest redemption. */
    redemptions: Integer
    donor: string | null
    applicant_id: JsonText | null
    attached_number: Integer | null
    attached_at: Integer | null
    review: JsonText | null
    reviewed_at: Integer | null
    /** A review that is not proven to be newer than `review`. */
    doubt: JsonText | null
    /** The provider's time of `is_active`; null together with it. */
    presence_at: Integer | null
    is_active: Integer | null
    /** Null together with the two below: the provider knows the applicant. */
    missing_since: Integer | null
    missing_reported: Integer | null
    missing_confirmed: Integer | null
    revision: Integer
    /** Null: the provider is not polled. */
    next_poll_at: Integer | null
  }

  /** One row per person that was ever locked: each transaction on a person locks the person's row. */
  identity_persons: {
    id: string
  }

  /** One use of a share token, under an external user id of its own. */
  identity_redemptions: {
    /** Order in which redemptions were started. */
    seq: Generated<Integer>
    external_user_id: JsonText
    subject_id: JsonText
    /** From 1, unique in each subject. */
    number: Integer
    integration: string
    level_name: JsonText | null
    is_findable: Integer
    started_at: Integer
    leased_until: Integer
    state: string
    applicant_id: JsonText | null
    /** Null: the applicant is not looked up. */
    next_look_up_at: Integer | null
  }

  identity_shares: {
    id: Generated<Integer>
    at: Integer
    integration: string
    subject_id: JsonText
    outcome: string
    external_user_id: JsonText | null
    provider_code: Integer | null
  }

  identity_verdicts: {
    id: Generated<Integer>
    noted_at: Integer
    subject_id: JsonText
    applicant_id: JsonText
    source: string
    change: string
    /** The provider's time. */
    at: Integer | null
    review: JsonText | null
    outcome: string
  }

  provider_events: {
    event_key: JsonText
    at: Integer
  }

  /** One row per account in the store. */
  identity_accounts: {
    /** Order of registration. */
    id: Generated<Integer>
    account_id: JsonText
    /** Null: another account proved its address. */
    email_key: string | null
    /** 1 for the one owner of an address. */
    email_verified: Integer
    created_at: Integer
  }

  /** The issued one-time code of an e-mail address. */
  email_codes: {
    email_key: string
    /** Keyed hash of the address and the code. */
    hash: string
    expires_at: Integer
    tries_left: Integer
  }

  account_events: {
    id: Generated<Integer>
    at: Integer
    action: string
    email_key: string | null
    account_id: JsonText | null
    proof: string | null
    by_integration: string | null
    reason: string | null
  }
}
