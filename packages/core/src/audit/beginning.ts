/** Finds where an audit chain begins whose oldest records were removed. Source: docs/retention.md. @module */
import type { AuditRecord, AuditStore } from '../ports/store-audit.js'
import type { AuditHead } from '../service-types.js'
import { auditChainOf, auditPlace } from './numbers.js'
import { auditParts } from './parts.js'

/**
 * The record before the first one of a chain, as the record about the removal has it. Null: there is none. Nobody
 * without the key can make up the record about the removal, because it is in the same chain.
 */
export async function findBeginning(audit: AuditStore, first: AuditRecord): Promise<AuditHead | null> {
  const chain = auditChainOf(first.seq, audit.chains)
  if (auditPlace(chain, first.seq, audit.chains) === 1) return null
  const removed = first.seq - audit.chains
  for await (const part of auditParts(audit, { chain, afterSeq: removed }))
    for (const { action, subject, details } of part)
      if (action === 'history.archived' && subject === 'audit' && details['upTo'] === removed)
        return { seq: removed, hash: String(details['hash']), at: first.at }
  return null
}
