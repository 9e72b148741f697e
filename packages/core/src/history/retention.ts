/** Plans and runs retention, and restores archived history. Source: docs/retention.md. @module */
import { StoreError } from '../errors.js'
import { createLease } from '../internal/lease.js'
import type { FileWriter } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import type { SignedFile, SignedWriter } from '../secrets/signed-file.js'
import { ArchiveError, beginSignedFile, openSignedFile } from '../secrets/signed-file.js'
import type { Audited, AuditNote, CommandDeps } from './audit-log.js'
import { createAuditQueries, findLastRemoved, readAuditParts, recordNote } from './audit-log.js'
import type { AuditRecord, AuditStore } from './audit-store.js'
import type {
  ArchivedFile,
  ArchiveHeader,
  ExpiredHistory,
  HistoryArchive,
  HistoryCommands,
  HistorySegment,
  HistoryStore,
  PendingDeliveries,
  RetentionOptions,
  RetentionPolicy,
  SegmentedKind,
} from './history-store.js'
import { headerSchema, rowSchemas } from './history-store.js'

const dayMs = 86_400_000
/** The approximate upper limit for segments with deliveries in a store. */
const maxSegments = 64
/** Length of a segment if deliveries are kept for ever: such segments are never removed, so they must be few. */
const unlimitedSegmentMs = 30 * dayMs
/** The shortest retention, in milliseconds: longer than any transaction that runs while a segment begins. */
const minRetentionMs = 60_000
/** In the order of removal: attempts before their deliveries. */
export const segmentedKinds = ['attempts', 'deliveries', 'updates'] as const satisfies readonly SegmentedKind[]

/** @throws RangeError For a time that is no whole number, or too short. */
export function checkPolicy(policy: RetentionPolicy): void {
  for (const [kind, ms] of Object.entries(policy))
    if (ms !== null && !(Number.isSafeInteger(ms) && ms >= minRetentionMs))
      throw new RangeError(`The retention of ${kind} is ${ms} ms; pass a whole number from ${minRetentionMs}, or null.`)
}

/** The retention of a kind in milliseconds; null: for ever. Attempts expire with their delivery at the latest. */
function getRetentionMs({ attempts, deliveries, updates }: RetentionPolicy, kind: SegmentedKind): number | null {
  if (kind === 'updates') return updates
  if (kind === 'deliveries' || attempts === null) return deliveries
  return deliveries === null ? attempts : Math.min(attempts, deliveries)
}

/** Length of a segment in milliseconds; null: nothing expires, so one segment suffices. */
export function computeSegmentMs(policy: RetentionPolicy): number | null {
  const retentions = segmentedKinds.flatMap((kind) => getRetentionMs(policy, kind) ?? [])
  if (retentions.length === 0) return null
  return Math.max(
    policy.deliveries === null ? unlimitedSegmentMs : Math.min(dayMs, ...retentions),
    Math.max(...retentions) / maxSegments,
  )
}

/** Expired history of one kind in one segment, without the number of rows. */
type ExpiredPart = Omit<ExpiredHistory & { readonly kind: SegmentedKind }, 'rows'>

export function findExpiredParts(segments: readonly HistorySegment[], policy: RetentionPolicy, now: number) {
  return segmentedKinds.flatMap((kind): ExpiredPart[] => {
    const ms = getRetentionMs(policy, kind)
    if (ms === null) return []
    return segments.flatMap(({ number, begunAt, endedAt }) =>
      endedAt !== null && endedAt <= now - ms ? [{ kind, part: number, from: begunAt, to: endedAt }] : [],
    )
  })
}

/** The newest segment with expired deliveries or attempts, or null. */
function findNewestDeliverySegment(expired: readonly ExpiredPart[]): number | null {
  const numbers = expired.flatMap(({ kind, part }) => (kind === 'updates' ? [] : [part]))
  return numbers.length === 0 ? null : Math.max(...numbers)
}

/** The parts that may leave: deliveries and attempts of segments with pending deliveries stay. */
function selectRemovable(expired: readonly ExpiredPart[], pending: readonly PendingDeliveries[]): ExpiredPart[] {
  const staying = new Set(pending.map(({ segment }) => segment))
  return expired.filter(({ kind, part }) => kind === 'updates' || !staying.has(part))
}

/** The keys sign the files and verify the audit log. A replaced key is accepted for both. */
interface HistoryDeps extends CommandDeps {
  readonly store: Pick<Store, 'history' | 'audit' | 'leases'>
}

/** The history of a store. @throws TypeError When it is kept for ever. */
function requireHistory({ history }: Pick<Store, 'history'>): HistoryStore {
  if (history === null)
    throw new TypeError('This store keeps its history for ever; retention needs SQLite or PostgreSQL.')
  return history
}

/** Reads audit records up to a time, oldest first, in groups. The newest record never expires. */
async function* readExpiredRecords(audit: AuditStore, before: number, signal?: AbortSignal) {
  const newest = (await audit.newest())?.seq ?? 0
  for await (const part of readAuditParts(audit)) {
    signal?.throwIfAborted()
    const end = part.findIndex(({ at, seq }) => at > before || seq === newest)
    const expired = end === -1 ? part : part.slice(0, end)
    if (expired.length > 0) yield expired
    if (end !== -1) return
  }
}

async function findExpiredRecords(audit: AuditStore, before: number, signal?: AbortSignal) {
  let [first, rows]: [AuditRecord | null, number] = [null, 0]
  for await (const part of readExpiredRecords(audit, before, signal)) {
    first ??= part[0] ?? null
    rows += part.length
  }
  return first && ({ kind: 'audit', part: first.seq, rows, from: first.at, to: before } as const)
}

interface RetentionRun {
  readonly policy: RetentionPolicy
  readonly archive: HistoryArchive
  readonly options: RetentionOptions
  /** Throws when another run took the lease, or after an abort. */
  readonly assertMayContinue: () => void
}

async function runRetention(deps: HistoryDeps, { policy, archive, options, assertMayContinue }: RetentionRun) {
  const { store, audited, keys, clock } = deps
  const { givesUp = false, onProgress, signal } = options
  const { audit } = store
  const history = requireHistory(store)

  /**
   * Writes rows to a file and verifies the file, since the rows are removed next. Null: there were no rows, so no file
   * is made. An unfinished file is discarded; a finished one stays when its verification is aborted.
   */
  async function archiveRows(header: Omit<ArchiveHeader, 'writtenAt'>, groups: AsyncIterable<readonly object[]>) {
    const fullHeader = { ...header, writtenAt: clock.now() }
    let [file, writer]: [FileWriter | null, SignedWriter | null] = [null, null]
    try {
      for await (const group of groups) {
        signal?.throwIfAborted()
        if (group.length === 0) continue
        file ??= await archive.create(fullHeader)
        writer ??= await beginSignedFile(keys, 'archive-file', file, fullHeader)
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

  /** The record of an archived file. `more`: further details. */
  function toNote({ kind, part }: ExpiredPart | ExpiredHistory, file: ArchivedFile, more: AuditNote['details'] = {}) {
    const { name, rows, hmac } = file
    return { action: 'history.archived', subject: kind, details: { part, file: name, rows, hmac, ...more } } as const
  }

  async function removePart(expired: ExpiredPart) {
    const { kind, part } = expired
    const removable = await history.part(kind, part)
    const file = await archiveRows({ kind, part }, removable.rows())
    if (file !== null) await recordNote(audited, toNote(expired, file))
    await removable.remove()
    if (file !== null) onProgress?.({ event: 'removed', history: { ...expired, rows: file.rows }, file })
  }

  /** Closes the segments of expired deliveries. Returns the deliveries in them that are still pending. */
  async function closeSegments(expired: readonly ExpiredPart[]) {
    const upTo = findNewestDeliverySegment(expired)
    if (upTo === null) return []
    await history.closeSegments(upTo)
    const deliveries = givesUp ? await history.exhaustPending(upTo) : 0
    if (deliveries > 0) {
      await recordNote(audited, { action: 'deliveries.given_up', subject: 'all', details: { deliveries, upTo } })
      onProgress?.({ event: 'given_up', deliveries })
    }
    const pending = await history.pending(upTo)
    for (const each of pending) onProgress?.({ event: 'kept', pending: each })
    return pending
  }

  async function removeAudit(before: number) {
    const expired = await findExpiredRecords(audit, before, signal)
    if (expired === null) return
    // Verified first, because removed records can no longer be verified.
    const { brokenAt } = await createAuditQueries({ audit, keys }).verify({ signal })
    if (brokenAt !== null) return onProgress?.({ event: 'audit_broken', brokenAt })
    let last: Pick<AuditRecord, 'seq' | 'hash'> = { seq: 0, hash: '' }
    async function* readRecords() {
      for await (const part of readExpiredRecords(audit, before)) {
        yield part
        last = part.at(-1) ?? last
      }
    }
    const file = await archiveRows({ kind: expired.kind, part: expired.part }, readRecords())
    if (file === null) return
    await audited(async (tx, note) => {
      await tx.removeAudit(last.seq)
      // The last hash, so that later records can be verified.
      note(toNote(expired, file, { upTo: last.seq, hash: last.hash }))
    })
    onProgress?.({ event: 'removed', history: { ...expired, rows: file.rows }, file })
  }

  const newest = (await history.segments()).at(-1)
  const segmentMs = computeSegmentMs(policy)
  if (segmentMs !== null && newest !== undefined && newest.begunAt <= clock.now() - segmentMs) {
    await history.beginSegment()
    onProgress?.({ event: 'begun' })
  }
  const expired = findExpiredParts(await history.segments(), policy, clock.now())
  const pending = await closeSegments(expired)
  for (const each of selectRemovable(expired, pending)) {
    assertMayContinue()
    await removePart(each)
  }
  assertMayContinue()
  if (policy.audit !== null) await removeAudit(clock.now() - policy.audit)
}

/** Runs retention under a lease, so that no other process runs it at the same time. */
function createExclusiveRun(deps: HistoryDeps): HistoryCommands['run'] {
  const { store, clock, random } = deps
  return async (policy, archive, options = {}) => {
    checkPolicy(policy)
    const holder = Buffer.from(random.bytes(16)).toString('hex')
    const lease = createLease({ leases: store.leases, clock, name: 'retention', holder, ttlMs: 60_000 })
    if (!(await lease.ensure()))
      throw new StoreError('ERR_STORE_BUSY', 'Another retention run goes on; wait for its end.')
    function assertMayContinue(): void {
      options.signal?.throwIfAborted()
      if (!lease.isActive())
        throw new StoreError('ERR_STORE_BUSY', 'Another retention run has begun; wait for its end.')
    }
    const ending = new AbortController()
    const renewing = lease.renew(ending.signal)
    try {
      await runRetention(deps, { policy, archive, options, assertMayContinue })
    } finally {
      ending.abort()
      await renewing
      await lease.release()
    }
  }
}

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
      const isAudit = kind === 'audit'
      const rows = await (isAudit ? restoreRecords(audit, audited, file) : restoreRows(history, kind, part, file))
      const details = { part, file: name, rows }
      await recordNote(audited, { action: 'history.restored', subject: kind, details })
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
) {
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
    const lastRemoved = first === undefined ? null : await findLastRemoved(audit, first)
    if (lastRemoved === null) throw new RangeError('no record of the audit log is missing.')
    if (last?.seq !== lastRemoved.seq || last.hash !== lastRemoved.hash)
      throw new RangeError(
        `it ends with record ${last?.seq}, and the log begins with record ${lastRemoved.seq + 1}. First restore the file that ends with record ${lastRemoved.seq}.`,
      )
    for await (const records of file.rows(rowSchemas.audit)) await tx.restoreAudit(records)
  })
  return count
}

export function createHistoryCommands(deps: HistoryDeps): HistoryCommands {
  const { store, clock } = deps

  const plan: HistoryCommands['plan'] = async (policy) => {
    checkPolicy(policy)
    const history = requireHistory(store)
    const now = clock.now()
    const expiredParts = findExpiredParts(await history.segments(), policy, now)
    const upTo = findNewestDeliverySegment(expiredParts)
    const pending = upTo === null ? [] : await history.pending(upTo)
    const expired: ExpiredHistory[] = []
    for (const each of selectRemovable(expiredParts, pending)) {
      const rows = await history.count(each.kind, each.part)
      if (rows > 0) expired.push({ ...each, rows })
    }
    const before = policy.audit === null ? null : now - policy.audit
    const records = before === null ? null : await findExpiredRecords(store.audit, before)
    return { expired: records === null ? expired : [...expired, records], pending }
  }

  return { plan, run: createExclusiveRun(deps), restore: createRestore(deps) }
}
