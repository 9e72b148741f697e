/** Converts subjects between rows and objects. @module */
import type { MissingApplicant, Review, Subject, VerificationChange } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { Parameter } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { integer, nullableInteger, pack, unpack } from '../internal/values.js'
import type { SubjectRow } from '../schema/identity-tables.js'

/** The columns of {@link StoredSubject}. */
export const subjectColumns = [
  ...['id', 'email_key', 'account_id', 'proved', 'closed', 'redemptions', 'donor', 'applicant_id', 'attached_number'],
  ...['attached_at', 'review', 'reviewed_at', 'doubt', 'presence_at', 'is_active', 'missing_since'],
  ...['missing_reported', 'missing_confirmed', 'revision'],
].join(', ')

/** A row with {@link subjectColumns}. */
export type StoredSubject = Omit<Selectable<SubjectRow>, 'seq' | 'email_key_version' | 'email_sealed' | 'next_poll_at'>

/** The subject in a row. */
export function subjectFrom(row: StoredSubject): Subject {
  return {
    id: unpack<string>(row.id),
    emailKey: row.email_key,
    accountId: unpack<string>(row.account_id),
    proved: integer(row.proved) === 1,
    closed: integer(row.closed) === 1,
    redemptions: integer(row.redemptions),
    donor: row.donor,
    applicantId: unpack<string>(row.applicant_id),
    attachedNumber: nullableInteger(row.attached_number),
    attachedAt: nullableInteger(row.attached_at),
    review: unpack<Review>(row.review),
    reviewedAt: nullableInteger(row.reviewed_at),
    doubt: unpack<Review>(row.doubt),
    presence: presenceFrom(row),
    missing: missingFrom(row),
    revision: integer(row.revision),
  }
}

function presenceFrom({ presence_at, is_active }: StoredSubject): Subject['presence'] {
  if (presence_at === null || is_active === null) return null
  return { isActive: integer(is_active) === 1, at: integer(presence_at) }
}

function missingFrom({ missing_since, missing_reported, missing_confirmed }: StoredSubject): MissingApplicant | null {
  if (missing_since === null || missing_reported === null || missing_confirmed === null) return null
  return {
    since: integer(missing_since),
    reported: integer(missing_reported) === 1,
    confirmed: integer(missing_confirmed) === 1,
  }
}

/** The assignments of a change of a verification, as SQL text, without its poll. */
export function verificationAssignments(change: VerificationChange, parameter: Parameter): string[] {
  const { donor, applicantId, attachedNumber, attachedAt, review, reviewedAt, doubt, presence, missing } = change
  const values: Record<string, unknown> = {}
  if (donor !== undefined) values['donor'] = donor
  if (applicantId !== undefined) values['applicant_id'] = pack(applicantId)
  if (attachedNumber !== undefined) values['attached_number'] = whole(attachedNumber, 'attachedNumber')
  if (attachedAt !== undefined) values['attached_at'] = whole(attachedAt, 'attachedAt')
  if (review !== undefined) values['review'] = pack(review)
  if (reviewedAt !== undefined) values['reviewed_at'] = whole(reviewedAt, 'reviewedAt')
  if (doubt !== undefined) values['doubt'] = pack(doubt)
  if (presence !== undefined) {
    values['presence_at'] = whole(presence?.at ?? null, 'presence.at')
    values['is_active'] = flag(presence?.isActive)
  }
  if (missing !== undefined) {
    values['missing_since'] = whole(missing?.since ?? null, 'missing.since')
    values['missing_reported'] = flag(missing?.reported)
    values['missing_confirmed'] = flag(missing?.confirmed)
  }
  return Object.entries(values).map(([column, value]) => `${column} = ${parameter(value)}`)
}

function whole(value: number | null, what: string): number | null {
  return value === null ? null : checkInteger(value, what)
}

function flag(value: boolean | undefined): 0 | 1 | null {
  return value === undefined ? null : value ? 1 : 0
}
