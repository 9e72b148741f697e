/** How commands print the audit log. @module */
import type { AuditRecord } from '@payment-integration/core/ports'
import { momentText } from '../../output/moments.js'
import { plain } from '../../output/plain.js'

/** One line about a record. */
export function auditLine({ seq, at, actor, action, subject, details }: AuditRecord): string {
  const facts = Object.entries(details).map(([name, value]) => `${name}=${plain(String(value))}`)
  return [String(seq).padStart(6), momentText(at), plain(actor), action, plain(subject), ...facts].join('  ')
}
