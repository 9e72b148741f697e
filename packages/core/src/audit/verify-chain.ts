/** Checks one chain of the audit log. Source: docs/decisions/audit.md. @module */
import type { AuditRecord, AuditStore } from '../ports/store-audit.js'
import type { MasterKey } from '../secrets/master-key.js'
import type { AuditHead, AuditVerifyOptions } from '../service-types.js'
import { findBeginning } from './beginning.js'
import { beforeFirst, hashRecord } from './chain.js'
import { auditSeq } from './numbers.js'
import { auditParts } from './parts.js'

/** Where the records and their keys are. */
export interface AuditLog {
  readonly audit: AuditStore
  readonly keys: MasterKey
}

/** Whether an audit chain is intact. */
export interface ChainVerdict {
  /** Number of checked records. */
  readonly records: number
  /** The last one that is intact; null: there is none. */
  readonly last: AuditHead | null
  /** The first `seq` that is missing, altered, or keyed with an unconfigured master key; null: the chain is intact. */
  readonly brokenAt: number | null
}

/** Checks a chain from its first record to its last. @throws The signal's reason when it aborts. */
export async function verifyChain(
  { audit, keys }: AuditLog,
  chain: number,
  { onProgress, signal }: AuditVerifyOptions = {},
): Promise<ChainVerdict> {
  const [first] = await audit.list({ chain, limit: 1 })
  const beginning = first === undefined ? null : await findBeginning(audit, first)
  let expectedSeq = beginning === null ? auditSeq(chain, 1, audit.chains) : beginning.seq + audit.chains
  let previous = beginning?.hash ?? beforeFirst
  let last: AuditHead | null = null
  let records = 0
  signal?.throwIfAborted()
  for await (const part of auditParts(audit, { chain })) {
    for (const record of part) {
      if (record.seq !== expectedSeq || !fits(record, previous, keys)) return { records, last, brokenAt: expectedSeq }
      last = { seq: record.seq, hash: record.hash, at: record.at }
      previous = record.hash
      expectedSeq += audit.chains
      records += 1
    }
    onProgress?.(records)
    signal?.throwIfAborted()
  }
  return { records, last, brokenAt: null }
}

function fits(record: AuditRecord, previous: string, keys: MasterKey): boolean {
  const key = keys.find(record.keyVersion)
  return key !== undefined && hashRecord(key, previous, record) === record.hash
}
