/** Chains the records of the audit log. Source: docs/decisions/audit.md. @module */
import { createHmac } from 'node:crypto'
import type { AuditRecord } from '../ports/store-audit.js'
import type { KeyVersion } from '../secrets/master-key.js'

/** The hash before the first record. */
export const beforeFirst = ''

/**
 * The hash of a record: HMAC-SHA256 over the previous hash and all fields, with a key derived from the master key.
 * Write access to the database alone does not allow to forge a record.
 *
 * @param previous - The hash of the record before, or {@link beforeFirst}.
 *
 * @returns 64 lowercase hex digits.
 */
export function hashRecord(key: KeyVersion, previous: string, record: Omit<AuditRecord, 'hash'>): string {
  const { seq, at, actor, action, subject, details, keyVersion } = record
  const sorted = Object.entries(details).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // An array has one order, so equal records have equal text.
  const text = JSON.stringify([seq, at, actor, action, subject, sorted, keyVersion])
  return createHmac('sha256', key.derive('audit')).update(`${previous}\n${text}`, 'utf8').digest('hex')
}
