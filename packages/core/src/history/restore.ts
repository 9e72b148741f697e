/** Restores a file of ended history. Source: docs/retention.md. @module */
import { auditParts } from '../audit/parts.js'
import type { HistoryCommands } from '../history-types.js'
import type { ArchiveHeader } from '../ports/history-archive.js'
import { ArchiveError } from './archive-error.js'
import { restoreRecords } from './audit-history.js'
import { type HistoryDeps, historyOf } from './deps.js'

/** Builds `HistoryCommands.restore`. */
export function createRestore({ store, audited }: HistoryDeps): HistoryCommands['restore'] {
  const { audit } = store

  /** The record of the file is in the audit log, unless it has left the log itself. */
  async function checkOrigin(name: string, { writtenAt }: ArchiveHeader, sha256: string): Promise<void> {
    const [first] = await audit.list({ limit: 1 })
    if (first !== undefined && first.at > writtenAt) return
    for await (const part of auditParts(audit))
      if (part.some(({ action, details }) => action === 'history.archived' && details['sha256'] === sha256)) return
    throw new ArchiveError(name, `${name} is not a file that this database wrote: no record of its audit log names it.`)
  }

  return async (archive, name) => {
    const history = historyOf(store)
    const { header, rows, sha256 } = await archive.read(name)
    const { kind, part } = header
    await checkOrigin(name, header, await sha256())
    // The end of a damaged file may be missing: none of its rows is stored then.
    let count = 0
    for await (const group of rows()) count += group.length
    try {
      if (kind === 'audit') await restoreRecords(audit, audited, rows())
      else for await (const group of rows()) await history.restore(kind, part, group)
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof TypeError)) throw error
      throw new ArchiveError(name, `${name} was not restored: ${error.message}`, { cause: error })
    }
    const details = { part, file: name, rows: count }
    await audited(async (_tx, note) => note({ action: 'history.restored', subject: kind, details }))
    return { kind, rows: count }
  }
}
