/** The operator's commands for history that ends. Source: docs/retention.md. @module */
import type { Audited } from '../audit/audited.js'
import type { EndedHistory, HistoryCommands, RetentionPolicy } from '../history-types.js'
import type { ArchivedFile, ArchiveHeader, ArchiveWriter, HistoryArchive } from '../ports/history-archive.js'
import type { Store } from '../ports/store.js'
import type { AuditRecord } from '../ports/store-audit.js'
import type { HistoryStore, SegmentedKind } from '../ports/store-history.js'
import type { Clock } from '../ports/world.js'
import { findEnded, removeRecords, writeRecords } from './audit-history.js'
import { checkPolicy, endedSegments, segmentMs } from './periods.js'

/** The dependencies of the commands. */
export interface HistoryDeps {
  readonly store: Pick<Store, 'history' | 'audit'>
  readonly audited: Audited
  readonly clock: Pick<Clock, 'now'>
}

type EndedPart = Omit<EndedHistory & { readonly kind: SegmentedKind }, 'rows'>

/** Builds the commands. */
export function createHistoryCommands({ store, audited, clock }: HistoryDeps): HistoryCommands {
  const { audit } = store

  function historyOf(): HistoryStore {
    if (store.history === null) throw new TypeError('This store keeps its history for ever.')
    return store.history
  }

  const auditEnd = ({ audit: ms }: RetentionPolicy, now: number) => (ms === null ? null : now - ms)

  async function plan(policy: RetentionPolicy): Promise<EndedHistory[]> {
    checkPolicy(policy)
    const history = historyOf()
    const now = clock.now()
    const ended: EndedHistory[] = []
    for (const each of endedSegments(await history.segments(), policy, now)) {
      const rows = await history.count(each.kind, each.part)
      if (rows > 0) ended.push({ ...each, rows })
    }
    const before = auditEnd(policy, now)
    const records = before === null ? null : await findEnded(audit, before)
    return records === null ? ended : [...ended, records]
  }

  /** Whether the newest segment is as long as segments are. */
  async function isFull(history: HistoryStore, policy: RetentionPolicy): Promise<boolean> {
    const newest = (await history.segments()).at(-1)
    const ms = segmentMs(policy)
    return ms !== null && newest !== undefined && newest.begunAt <= clock.now() - ms
  }

  /** Writes a file by `write`; removes what was written of it when that rejects. */
  async function archived<T>(
    archive: HistoryArchive,
    header: Omit<ArchiveHeader, 'writtenAt'>,
    write: (writer: ArchiveWriter) => Promise<T>,
  ): Promise<{ readonly file: ArchivedFile; readonly written: T }> {
    const writer = await archive.create({ ...header, writtenAt: clock.now() })
    try {
      const written = await write(writer)
      return { file: await writer.finish(), written }
    } catch (error) {
      await writer.discard()
      throw error
    }
  }

  /** Resolves the file, or null when there were no rows. */
  async function removePart(history: HistoryStore, archive: HistoryArchive, { kind, part }: EndedPart, rows: number) {
    if (rows === 0 && kind !== 'deliveries') return null
    const found = await history.part(kind, part)
    let kept: ArchivedFile | null = null
    if (rows > 0) {
      const { file } = await archived(archive, { kind, part }, async (writer) => {
        for await (const group of found.rows()) await writer.write(group)
      })
      kept = file
      const details = { part, file: file.name, rows: file.rows, sha256: file.sha256 }
      await audited(async (_tx, note) => note({ action: 'history.archived', subject: kind, details }))
    }
    await found.remove()
    return kept
  }

  async function removeAudit(archive: HistoryArchive, ended: EndedHistory): Promise<ArchivedFile> {
    const { kind, part } = ended
    const { file, written: last } = await archived<AuditRecord | null>(archive, { kind, part }, (writer) =>
      writeRecords(audit, ended.to, writer),
    )
    if (last !== null) await removeRecords(audited, last, file)
    return file
  }

  return {
    plan,
    async run(policy, archive, { onProgress, signal } = {}) {
      checkPolicy(policy)
      const history = historyOf()
      if (await isFull(history, policy)) {
        await history.beginSegment()
        onProgress?.({ event: 'begun' })
      }
      const kept = new Set<number>()
      for (const each of endedSegments(await history.segments(), policy, clock.now())) {
        signal?.throwIfAborted()
        // Where attempts stayed, their deliveries stay too.
        if (each.kind !== 'updates' && kept.has(each.part)) continue
        const pending = each.kind === 'updates' ? 0 : await history.closeSegment(each.part)
        if (pending > 0) {
          kept.add(each.part)
          onProgress?.({ event: 'kept', history: each, pending })
          continue
        }
        const rows = await history.count(each.kind, each.part)
        const file = await removePart(history, archive, each, rows)
        if (file !== null) onProgress?.({ event: 'removed', history: { ...each, rows: file.rows }, file })
      }
      signal?.throwIfAborted()
      const before = auditEnd(policy, clock.now())
      const records = before === null ? null : await findEnded(audit, before)
      if (records === null) return
      const file = await removeAudit(archive, records)
      onProgress?.({ event: 'removed', history: { ...records, rows: file.rows }, file })
    },
    async restore(archive, name) {
      const { header, rows } = await archive.read(name)
      const { kind, part } = header
      const history = historyOf()
      // The end of a damaged file may be missing: none of its rows is stored then.
      let count = 0
      for await (const group of rows()) count += group.length
      for await (const group of rows()) {
        if (kind === 'audit') await audited((tx) => tx.restoreAudit(group.map((row) => row as unknown as AuditRecord)))
        else await history.restore(kind, part, group)
      }
      const details = { part, file: name, rows: count }
      await audited(async (_tx, note) => note({ action: 'history.restored', subject: kind, details }))
      return { kind, rows: count }
    },
  }
}
