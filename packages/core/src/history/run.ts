/** Runs retention: begins segments, and moves what has ended to files. Source: docs/retention.md. @module */
import { StoreError } from '../errors.js'
import type { RetentionOptions, RetentionPolicy } from '../history-types.js'
import { createLease } from '../internal/lease.js'
import type { FileWriter } from '../ports/files.js'
import type { ArchivedFile, ArchiveHeader, HistoryArchive } from '../ports/history-archive.js'
import type { AuditRecord } from '../ports/store-audit.js'
import type { HistoryStore } from '../ports/store-history.js'
import { beginSignedFile, openSignedFile, type SignedWriter } from '../secrets/signed-file.js'
import { endedRecords, findEnded, removeRecords } from './audit-history.js'
import { type HistoryDeps, historyOf } from './deps.js'
import { checkPolicy, type EndedPart, endedSegments, lastOfDeliveries, segmentMs } from './periods.js'

/** Duration of the lease of a run, in milliseconds. */
const leaseMs = 60_000
const holderBytes = 16

/** Builds `HistoryCommands.run`. */
export function createRun({ store, audited, verifyAudit, keys, clock, random }: HistoryDeps) {
  const { audit } = store

  /** Whether the newest segment is as long as segments are. */
  async function isFull(history: HistoryStore, policy: RetentionPolicy): Promise<boolean> {
    const newest = (await history.segments()).at(-1)
    const ms = segmentMs(policy)
    return ms !== null && newest !== undefined && newest.begunAt <= clock.now() - ms
  }

  /**
   * Writes groups of rows to a file, and reads it: the rows are removed next. Null, and no file, when there are none. A
   * file that is not finished is discarded; a finished one stays when the check of it is aborted.
   */
  async function archived(
    archive: HistoryArchive,
    header: Omit<ArchiveHeader, 'writtenAt'>,
    groups: AsyncIterable<readonly object[]>,
    signal: AbortSignal | undefined,
  ): Promise<ArchivedFile | null> {
    let [file, writer]: [FileWriter | null, SignedWriter | null] = [null, null]
    try {
      for await (const group of groups) {
        signal?.throwIfAborted()
        if (group.length === 0) continue
        const whole = { ...header, writtenAt: clock.now() }
        file ??= await archive.create(whole)
        writer ??= await beginSignedFile(keys, 'archive-file', file, whole)
        await writer.write(group)
      }
      signal?.throwIfAborted()
      if (file === null || writer === null) return null
      const { name } = file
      const finished = await writer.finish()
      await openSignedFile(keys, 'archive-file', archive.open(name), signal)
      return { name, ...finished }
    } catch (error) {
      await file?.discard()
      throw error
    }
  }

  async function removePart(
    history: HistoryStore,
    archive: HistoryArchive,
    { kind, part }: EndedPart,
    signal: AbortSignal | undefined,
  ) {
    const found = await history.part(kind, part)
    const file = await archived(archive, { kind, part }, found.rows(), signal)
    if (file !== null) {
      const details = { part, file: file.name, rows: file.rows, hmac: file.hmac }
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

  async function removeAudit(archive: HistoryArchive, before: number, { onProgress, signal }: RetentionOptions) {
    const ended = await findEnded(audit, before)
    if (ended === null) return
    // What is removed can no longer be checked.
    const { brokenAt } = await verifyAudit()
    if (brokenAt !== null) return onProgress?.({ event: 'audit_broken', brokenAt })
    let last: AuditRecord | null = null
    async function* records() {
      for await (const part of endedRecords(audit, before)) {
        yield part
        last = part.at(-1) ?? last
      }
    }
    const { kind, part } = ended
    const file = await archived(archive, { kind, part }, records(), signal)
    if (file === null || last === null) return
    await removeRecords(audited, part, last, file)
    onProgress?.({ event: 'removed', history: { ...ended, rows: file.rows }, file })
  }

  async function run(policy: RetentionPolicy, archive: HistoryArchive, options: RetentionOptions, check: () => void) {
    const { onProgress } = options
    const history = historyOf(store)
    if (await isFull(history, policy)) {
      await history.beginSegment()
      onProgress?.({ event: 'begun' })
    }
    const ended = endedSegments(await history.segments(), policy, clock.now())
    const kept = await closeSegments(history, ended, options)
    for (const each of ended) {
      check()
      if (each.kind !== 'updates' && kept.has(each.part)) continue
      const file = await removePart(history, archive, each, options.signal)
      if (file !== null) onProgress?.({ event: 'removed', history: { ...each, rows: file.rows }, file })
    }
    check()
    if (policy.audit !== null) await removeAudit(archive, clock.now() - policy.audit, options)
  }

  return async (policy: RetentionPolicy, archive: HistoryArchive, options: RetentionOptions = {}): Promise<void> => {
    checkPolicy(policy)
    const holder = Buffer.from(random.bytes(holderBytes)).toString('hex')
    const lease = createLease({ leases: store.leases, clock, name: 'retention', holder, ttlMs: leaseMs })
    if (!(await lease.ensure()))
      throw new StoreError('ERR_STORE_BUSY', 'Another retention run goes on; wait for its end.')
    const ending = new AbortController()
    const kept = lease.keep(ending.signal)
    try {
      await run(policy, archive, options, () => {
        options.signal?.throwIfAborted()
        if (!lease.held()) throw new StoreError('ERR_STORE_BUSY', 'Another retention run has begun; wait for its end.')
      })
    } finally {
      ending.abort()
      await kept
      await lease.release()
    }
  }
}
