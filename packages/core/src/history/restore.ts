/** Restores a file of ended history. Source: docs/retention.md. @module */
import { auditParts } from '../audit/parts.js'
import type { HistoryCommands } from '../history-types.js'
import type { ArchiveHeader } from '../ports/history-archive.js'
import type { HistoryStore, SegmentedKind } from '../ports/store-history.js'
import { openSignedFile, type SignedFile } from '../secrets/signed-file.js'
import { ArchiveError } from './archive-error.js'
import { restoreRecords } from './audit-history.js'
import { type HistoryDeps, historyOf } from './deps.js'
import { headerSchema, rowSchemas } from './row-schemas.js'

/** Builds `HistoryCommands.restore`. */
export function createRestore({ store, audited, keys }: HistoryDeps): HistoryCommands['restore'] {
  const { audit } = store

  /**
   * Whether the audit log says that this database wrote the file. Cells share keys, so an HMAC alone does not. A file
   * of the audit log itself must end where the log begins.
   */
  async function isRecorded({ kind, part }: ArchiveHeader, hmac: string): Promise<boolean> {
    for await (const records of auditParts(audit))
      if (
        records.some(({ action, subject, details }) => {
          return (
            action === 'history.archived' && subject === kind && details['part'] === part && details['hmac'] === hmac
          )
        })
      )
        return true
    return false
  }

  return async (archive, name, { signal } = {}) => {
    const history = historyOf(store)
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
