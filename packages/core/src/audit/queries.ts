/** Reads the audit log and checks its chain. Source: docs/decisions/audit.md. @module */
import { assertWhole } from '../internal/assert-whole.js'
import type { AuditRecord, AuditStore } from '../ports/store-audit.js'
import type { MasterKey } from '../secrets/master-key.js'
import type { AuditHead, AuditQueries } from '../service-types.js'
import { findBeginning } from './beginning.js'
import { beforeFirst, hashRecord } from './chain.js'
import { auditParts } from './parts.js'

/** Builds the queries. */
export function createAuditQueries({ audit, keys }: { audit: AuditStore; keys: MasterKey }): AuditQueries {
  return {
    async list(query) {
      assertWhole('limit', query.limit, 1)
      return audit.list(query)
    },
    async head() {
      const newest = await audit.newest()
      return newest && { seq: newest.seq, at: newest.at, hash: newest.hash }
    },
    async verify({ onProgress, signal } = {}) {
      const [first] = await audit.list({ limit: 1 })
      let before: AuditHead | null = first === undefined || first.seq === 1 ? null : await findBeginning(audit, first)
      let last: AuditHead | null = null
      let records = 0
      signal?.throwIfAborted()
      for await (const part of auditParts(audit)) {
        for (const record of part) {
          const expectedSeq: number = (before?.seq ?? 0) + 1
          if (record.seq !== expectedSeq || !fits(record, before?.hash ?? beforeFirst, keys))
            return { records, last, brokenAt: expectedSeq }
          last = { seq: record.seq, hash: record.hash, at: record.at }
          before = last
          records += 1
        }
        onProgress?.(records)
        signal?.throwIfAborted()
      }
      return { records, last, brokenAt: null }
    },
  }
}

function fits(record: AuditRecord, previous: string, keys: MasterKey): boolean {
  const key = keys.find(record.keyVersion)
  return key !== undefined && hashRecord(key, previous, record) === record.hash
}
