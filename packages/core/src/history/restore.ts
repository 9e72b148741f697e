/** Restores archived history, plans retention and builds its commands. Source: docs/retention.md. @module */
import { ArchiveError, openSignedFile, type SignedFile } from '../secrets/signed-file.js'
import type { Audited } from './audit-log.js'
import { findLastRemoved, readAuditParts } from './audit-log.js'
import type { AuditRecord, AuditStore } from './audit-store.js'
import type {
  ArchiveHeader,
  ExpiredHistory,
  HistoryCommands,
  HistoryPlan,
  HistoryStore,
  RetentionPolicy,
  SegmentedKind,
} from './history-store.js'
import { headerSchema, rowSchemas } from './history-store.js'
import {
  checkPolicy,
  createRetentionRun,
  findExpiredParts,
  findExpiredRecords,
  findNewestDeliverySegment,
  type HistoryDeps,
  requireHistory,
  selectRemovable,
} from './retention.js'

function createRestore({ store, audited, keys }: HistoryDeps): HistoryCommands['restore'] {
  const { audit } = store

  /** Whether the audit log names the file. Cells share keys, so an HMAC does not prove that this database wrote it. */
  async function isRecorded({ kind, part }: ArchiveHeader, hmac: string): Promise<boolean> {
    for await (const records of readAuditParts(audit))
      for (const { action, subject, details } of records)
        if (action === 'history.archived' && subject === kind && details['part'] === part && details['hmac'] === hmac)
          return true
    return false
  }

  return async (archive, name, { signal } = {}) => {
    const history = requireHistory(store)
    const file = await openSignedFile(keys, 'archive-file', archive.open(name), signal)
    const header = await file.header(headerSchema)
    const { kind, part } = header
    if (kind !== 'audit' && !(await isRecorded(header, file.hmac)))
      throw new ArchiveError(
        name,
        `No record of the audit log names ${name}. Restore it in the database that wrote it; if the record has left the log, restore that part of the audit log first.`,
      )
    try {
      const rows =
        kind === 'audit' ? await restoreRecords(audit, audited, file) : await restoreRows(history, kind, part, file)
      await audited(async (_tx, note) =>
        note({ action: 'history.restored', subject: kind, details: { part, file: name, rows } }),
      )
      return { kind, rows }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw new ArchiveError(name, `${name} was not restored: ${error.message}`, { cause: error })
    }
  }
}

async function restoreRows<Kind extends SegmentedKind>(
  history: HistoryStore,
  kind: Kind,
  segment: number,
  file: SignedFile,
): Promise<number> {
  let count = 0
  // Every row is parsed before the first is stored.
  for await (const rows of file.rows(rowSchemas[kind])) count += rows.length
  for await (const rows of file.rows(rowSchemas[kind])) await history.restore(kind, segment, rows)
  return count
}

/** Stores removed records again. @throws RangeError When the file does not end right before the log's first record. */
export async function restoreRecords(audit: AuditStore, audited: Audited, file: SignedFile): Promise<number> {
  let [count, last]: [number, AuditRecord | undefined] = [0, undefined]
  for await (const records of file.rows(rowSchemas.audit)) {
    count += records.length
    last = records.at(-1)
  }
  await audited(async (tx) => {
    const [first] = await audit.list({ limit: 1 })
    const before = first === undefined ? null : await findLastRemoved(audit, first)
    if (before === null) throw new RangeError('no record of the audit log is missing.')
    if (last?.seq !== before.seq || last.hash !== before.hash)
      throw new RangeError(
        `it ends with record ${last?.seq}, and the log begins with record ${before.seq + 1}. First restore the file that ends with record ${before.seq}.`,
      )
    for await (const records of file.rows(rowSchemas.audit)) await tx.restoreAudit(records)
  })
  return count
}

export function createHistoryCommands(deps: HistoryDeps): HistoryCommands {
  const { store, clock } = deps

  async function plan(policy: RetentionPolicy): Promise<HistoryPlan> {
    checkPolicy(policy)
    const history = requireHistory(store)
    const now = clock.now()
    const all = findExpiredParts(await history.segments(), policy, now)
    const upTo = findNewestDeliverySegment(all)
    const pending = upTo === null ? [] : await history.pending(upTo)
    const expired: ExpiredHistory[] = []
    for (const each of selectRemovable(all, pending)) {
      const rows = await history.count(each.kind, each.part)
      if (rows > 0) expired.push({ ...each, rows })
    }
    const before = policy.audit === null ? null : now - policy.audit
    const records = before === null ? null : await findExpiredRecords(store.audit, before)
    return { ended: records === null ? expired : [...expired, records], pending }
  }

  return { plan, run: createRetentionRun(deps), restore: createRestore(deps) }
}
