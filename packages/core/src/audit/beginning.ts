/** Finds where the chain begins in a log whose oldest records were removed. Source: docs/retention.md. @module */
import type { AuditRecord, AuditStore } from '../ports/store-audit.js'
import type { AuditHead } from '../service-types.js'
import { auditParts } from './parts.js'

/**
 * The record before the first one, as the record about the removal has it: that one is in the chain, so nobody without
 * the key can make it up. Null: there is none.
 */
export async function findBeginning(audit: AuditStore, first: AuditRecord): Promise<AuditHead | null> {
  const removed = first.seq - 1
  for await (const part of auditParts(audit, removed))
    for (const { action, subject, details } of part)
      if (action === 'history.archived' && subject === 'audit' && details['upTo'] === removed)
        return { seq: removed, hash: String(details['hash']), at: first.at }
  return null
}
