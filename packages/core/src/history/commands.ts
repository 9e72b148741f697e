/** The operator's commands for history that ends. Source: docs/retention.md. @module */
import type { Audited } from '../audit/audited.js'
import type { EndedHistory, HistoryCommands, HistoryPlan, RetentionOptions, RetentionPolicy } from '../history-types.js'
import type {
  ArchivedFile,
  ArchiveHeader,
  ArchiveWriter,
  HistoryArchive,
  HistoryRow,
} from '../ports/history-archive.js'
import type { Store } from '../ports/store.js'
import type { AuditRecord } from '../ports/store-audit.js'
import type { HistoryStore, SegmentedKind } from '../ports/store-history.js'
import type { Clock } from '../ports/world.js'
import type { AuditVerdict } from '../service-types.js'
import { ArchiveError } from './archive-error.js'
import { endedRecords, findEnded, removeRecords, restoreRecords } from './audit-history.js'
import { checkPolicy, endedSegments, segmentMs } from './periods.js'

/** The dependencies of the commands. */
export interface HistoryDeps {
  readonly store: Pick<Store, 'history' | 'audit'>
  readonly audited: Audited
  readonly verifyAudit: () => Promise<Pick<AuditVerdict, 'brokenAt'>>
  readonly clock: Pick<Clock, 'now'>
}

type EndedPart = Omit<EndedHistory & { readonly kind: SegmentedKind }, 'rows'>

/** Builds the commands. */
export function createHistoryCommands({ store, audited, verifyAudit, clock }: HistoryDeps): HistoryCommands {
  const { audit } = store

  function historyOf(): HistoryStore {
    if (store.history === null) throw new TypeError('This store keeps its history for ever.')
    return store.history
  }

  const auditEnd = ({ audit: ms }: RetentionPolicy, now: number) => (ms === null ? null : now - ms)

  async function plan(policy: RetentionPolicy): Promise<HistoryPlan> {
    checkPolicy(policy)
    const history = historyOf()
    const now = clock.now()
    const all = endedSegments(await history.segments(), policy, now)
    const upTo = lastOfDeliveries(all)
    const pending = upTo === null ? [] : await history.pending(upTo)
    const kept = new Set(pending.map(({ segment }) => segment))
    const ended: EndedHistory[] = []
    for (const each of all) {
      if (each.kind !== 'updates' && kept.has(each.part)) continue
      const rows = await history.count(each.kind, each.part)
      if (rows > 0) ended.push({ ...each, rows })
    }
    const before = auditEnd(policy, now)
    const records = before === null ? null : await findEnded(audit, before)
    return { ended: records === null ? ended : [...ended, records], pending }
  }

  /** Whether the newest segment is as long as segments are. */
  async function isFull(history: HistoryStore, policy: RetentionPolicy): Promise<boolean> {
    const newest = (await history.segments()).at(-1)
    const ms = segmentMs(policy)
    return ms !== null && newest !== undefined && newest.begunAt <= clock.now() - ms
  }

  /** Writes groups of rows to a file, removed again when that fails. Null, and no file, when there are none. */
  async function archived(
    archive: HistoryArchive,
    header: Omit<ArchiveHeader, 'writtenAt'>,
    groups: AsyncIterable<readonly HistoryRow[]>,
  ): Promise<ArchivedFile | null> {
    let writer: ArchiveWriter | null = null
    try {
      for await (const group of groups) {
        if (group.length === 0) continue
        writer ??= await archive.create({ ...header, writtenAt: clock.now() })
        await writer.write(group)
      }
      return writer === null ? null : await writer.finish()
    } catch (error) {
      await writer?.discard()
      throw error
    }
  }

  async function removePart(history: HistoryStore, archive: HistoryArchive, { kind, part }: EndedPart) {
    const found = await history.part(kind, part)
    const file = await archived(archive, { kind, part }, found.rows())
    if (file !== null) {
      const details = { part, file: file.name, rows: file.rows, sha256: file.sha256 }
      await audited(async (_tx, note) => note({ action: 'history.archived', subject: kind, details }))
    }
    await found.remove()
    return file
  }

  /** Closes the segments of ended deliveries; resolves those that stay. */
  async function closeSegments(history: HistoryStore, ended: readonly EndedPart[], options: RetentionOptions) {
    const { givesUp = false, onProgress } = options
    const upTo = lastOfDeliveries(ended)
    if (upTo === null) return new Set<number>()
    await history.closeSegments(upTo)
    if (givesUp) {
      const deliveries = await history.giveUpPending(upTo)
      if (deliveries > 0) {
        const details = { deliveries, upTo }
        await audited(async (_tx, note) => note({ action: 'deliveries.given_up', subject: 'all', details }))
        onProgress?.({ event: 'given_up', deliveries })
      }
    }
    const pending = await history.pending(upTo)
    for (const each of pending) onProgress?.({ event: 'kept', pending: each })
    return new Set(pending.map(({ segment }) => segment))
  }

  async function removeAudit(archive: HistoryArchive, before: number, { onProgress }: RetentionOptions) {
    const ended = await findEnded(audit, before)
    if (ended === null) return
    // What is removed can no longer be checked.
    const { brokenAt } = await verifyAudit()
    if (brokenAt !== null) return onProgress?.({ event: 'audit_broken', brokenAt })
    let last: AuditRecord | null = null
    async function* records() {
      for await (const part of endedRecords(audit, before)) {
        yield part.map((record): HistoryRow => ({ ...record }))
        last = part.at(-1) ?? last
      }
    }
    const { kind, part } = ended
    const file = await archived(archive, { kind, part }, records())
    if (file === null || last === null) return
    await removeRecords(audited, last, file)
    onProgress?.({ event: 'removed', history: { ...ended, rows: file.rows }, file })
  }

  /** The record of the file is in the audit log, unless it has left the log itself. */
  async function checkOrigin(name: string, { writtenAt }: ArchiveHeader, sha256: string): Promise<void> {
    let afterSeq = 0
    for (;;) {
      const records = await audit.list({ afterSeq, limit: 1_000 })
      if (afterSeq === 0 && records[0] !== undefined && records[0].at > writtenAt) return
      if (records.some(({ action, details }) => action === 'history.archived' && details['sha256'] === sha256)) return
      const last = records.at(-1)
      if (last === undefined) break
      afterSeq = last.seq
    }
    throw new ArchiveError(name, `${name} is not a file that this database wrote: no record of its audit log names it.`)
  }

  return {
    plan,
    async run(policy, archive, options = {}) {
      const { onProgress, signal } = options
      checkPolicy(policy)
      const history = historyOf()
      if (await isFull(history, policy)) {
        await history.beginSegment()
        onProgress?.({ event: 'begun' })
      }
      const ended = endedSegments(await history.segments(), policy, clock.now())
      const kept = await closeSegments(history, ended, options)
      for (const each of ended) {
        signal?.throwIfAborted()
        if (each.kind !== 'updates' && kept.has(each.part)) continue
        const file = await removePart(history, archive, each)
        if (file !== null) onProgress?.({ event: 'removed', history: { ...each, rows: file.rows }, file })
      }
      signal?.throwIfAborted()
      const before = auditEnd(policy, clock.now())
      if (before !== null) await removeAudit(archive, before, options)
    },
    async restore(archive, name) {
      const history = historyOf()
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
    },
  }
}

/** The newest segment whose deliveries or attempts have ended. */
function lastOfDeliveries(ended: readonly EndedPart[]): number | null {
  const numbers = ended.flatMap(({ kind, part }) => (kind === 'updates' ? [] : [part]))
  return numbers.length === 0 ? null : Math.max(...numbers)
}
