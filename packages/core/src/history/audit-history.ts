/**
 * Ends the oldest records of the audit log, so that its chain can still be checked. Source: docs/retention.md.
 * @module
 */
import type { Audited } from '../audit/audited.js'
import { findBeginning } from '../audit/beginning.js'
import { auditParts } from '../audit/parts.js'
import type { EndedHistory } from '../history-types.js'
import type { ArchivedFile } from '../ports/history-archive.js'
import type { AuditRecord, AuditStore } from '../ports/store-audit.js'
import type { SignedFile } from '../secrets/signed-file.js'
import { rowSchemas } from './row-schemas.js'

/** Records of the log from its oldest one, up to a time, in groups. The newest record of all is never among them. */
export async function* endedRecords(audit: AuditStore, before: number): AsyncGenerator<readonly AuditRecord[]> {
  const newest = (await audit.newest())?.seq ?? 0
  for await (const part of auditParts(audit)) {
    const end = part.findIndex(({ at, seq }) => at > before || seq === newest)
    const ended = end === -1 ? part : part.slice(0, end)
    if (ended.length > 0) yield ended
    if (end !== -1) return
  }
}

/** The records that have ended, or null. */
export async function findEnded(audit: AuditStore, before: number): Promise<EndedHistory | null> {
  let [first, rows]: [AuditRecord | null, number] = [null, 0]
  for await (const part of endedRecords(audit, before)) {
    first ??= part[0] ?? null
    rows += part.length
  }
  return first === null ? null : { kind: 'audit', part: first.seq, rows, from: first.at, to: before }
}

/**
 * Removes the records up to one of them. The record about it has the last one's hash, which the chain of the others
 * begins with.
 */
export function removeRecords(audited: Audited, first: number, last: AuditRecord, file: ArchivedFile): Promise<void> {
  return audited(async (tx, note) => {
    await tx.removeAudit(last.seq)
    const { name, rows, hmac } = file
    const details = { part: first, file: name, rows, hmac, upTo: last.seq, hash: last.hash }
    note({ action: 'history.archived', subject: 'audit', details })
  })
}

/**
 * Stores records again that were the oldest of the log, in one transaction.
 * @returns How many.
 * @throws RangeError When the last of them is not the one before the log's first record.
 */
export async function restoreRecords(audit: AuditStore, audited: Audited, file: SignedFile): Promise<number> {
  let [count, last]: [number, AuditRecord | undefined] = [0, undefined]
  for await (const records of file.rows(rowSchemas.audit)) {
    count += records.length
    last = records.at(-1)
  }
  const [first] = await audit.list({ limit: 1 })
  const before = first === undefined ? null : await findBeginning(audit, first)
  if (before === null) throw new RangeError('no record of the audit log is missing.')
  if (last?.seq !== before.seq || last.hash !== before.hash)
    throw new RangeError(
      `it ends with record ${last?.seq}, and the log begins with record ${before.seq + 1}. First restore the file that ends with record ${before.seq}.`,
    )
  await audited(async (tx) => {
    for await (const records of file.rows(rowSchemas.audit)) await tx.restoreAudit(records)
  })
  return count
}
