/** How records of the audit log are chained. Source: docs/decisions/audit.md. @module */
import { createHmac } from 'node:crypto'
import type { AuditRecord } from '../ports/store-audit.js'
import type { KeyVersion } from '../secrets/master-key.js'

/** What the first record follows. */
export const beforeFirst = ''

/**
 * The hash of a record: HMAC-SHA256 with a key derived from the master key, over the hash before it and everything else
 * that it holds. Whoever can only write to the database can make no record that fits.
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
