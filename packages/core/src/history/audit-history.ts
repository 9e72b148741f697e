/**
 * Ends the oldest records of each audit chain, so that the chain can still be checked. Source: docs/retention.md.
 * @module
 */
import type { Audited } from '../audit/audited.js'
import { findBeginning } from '../audit/beginning.js'
import { auditChainOf } from '../audit/numbers.js'
import { auditParts } from '../audit/parts.js'
import type { EndedHistory } from '../history-types.js'
import type { ArchivedFile, HistoryRow } from '../ports/history-archive.js'
import type { AuditRecord, AuditStore } from '../ports/store-audit.js'

/** Records of a chain from its oldest one, up to a time, in groups. The chain's newest record is never among them. */
export async function* endedRecords(
  audit: AuditStore,
  chain: number,
  before: number,
): AsyncGenerator<readonly AuditRecord[]> {
  const newest = (await audit.newest(chain))?.seq ?? 0
  for await (const part of auditParts(audit, { chain })) {
    const end = part.findIndex(({ at, seq }) => at > before || seq === newest)
    const ended = end === -1 ? part : part.slice(0, end)
    if (ended.length > 0) yield ended
    if (end !== -1) return
  }
}

/** The records of a chain that have ended, or null. */
export async function findEnded(audit: AuditStore, chain: number, before: number): Promise<EndedHistory | null> {
  let [first, rows]: [AuditRecord | null, number] = [null, 0]
  for await (const part of endedRecords(audit, chain, before)) {
    first ??= part[0] ?? null
    rows += part.length
  }
  return first === null ? null : { kind: 'audit', part: first.seq, rows, from: first.at, to: before }
}

/**
 * Removes the records of a chain up to one of them. The record about it is in the same chain and has the last one's
 * hash, which the others begin with.
 */
export function removeRecords(audited: Audited, chain: number, last: AuditRecord, file: ArchivedFile): Promise<void> {
  return audited(async (tx, note) => {
    await tx.removeAudit(last.seq)
    const { name, rows, sha256 } = file
    const details = { file: name, rows, sha256, upTo: last.seq, hash: last.hash }
    note({ action: 'history.archived', subject: 'audit', details })
  }, chain)
}

/**
 * Stores records again that were the oldest of their chain.
 * @throws RangeError When the last of them is not the one before the chain's first record.
 */
export async function restoreRecords(
  audit: AuditStore,
  audited: Audited,
  groups: AsyncIterable<readonly HistoryRow[]>,
): Promise<void> {
  const records: AuditRecord[] = []
  for await (const group of groups) records.push(...group.map((row) => row as unknown as AuditRecord))
  const last = records.at(-1)
  const chain = auditChainOf(last?.seq ?? 0, audit.chains)
  const [first] = await audit.list({ chain, limit: 1 })
  const before = first === undefined ? null : await findBeginning(audit, first)
  if (before === null) throw new RangeError('no record of the audit log is missing.')
  if (last?.seq !== before.seq || last.hash !== before.hash)
    throw new RangeError(
      `it ends with record ${last?.seq}, and the log begins with record ${first?.seq}. First restore the file that ends with record ${before.seq}.`,
    )
  await audited((tx) => tx.restoreAudit(records), chain)
}
