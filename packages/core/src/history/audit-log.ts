/** The audit log: a hash chain of every act. Source: docs/decisions/audit.md. @module */
import { createHmac } from 'node:crypto'
import { parseUrl } from '@payment-integration/contract/internal'
import type { EventSink } from '../events.js'
import { assertWhole, computeBackoffMs, describeError, type Loop } from '../internal/values.js'
import type { Clock, Logger, RandomSource } from '../ports/runtime.js'
import type { Store, StoreTransaction } from '../ports/store.js'
import type { MasterKey, VersionedKey } from '../secrets/keys.js'
import type { AuditEntry, AuditHead, AuditQueries, AuditRecord, AuditStore } from './audit-store.js'

/** The sequence and hash of the last removed record, as the record of its removal names them; null: none was. */
export async function findLastRemoved(audit: AuditStore, first: AuditRecord): Promise<Omit<AuditHead, 'at'> | null> {
  const removed = first.seq - 1
  for await (const part of readAuditParts(audit, removed))
    for (const { action, subject, details } of part)
      if (action === 'history.archived' && subject === 'audit' && details['upTo'] === removed)
        return { seq: removed, hash: String(details['hash']) }
  return null
}

/** Reads the records after `afterSeq` in their order, in parts that are not empty. */
export async function* readAuditParts(audit: Pick<AuditStore, 'list'>, afterSeq = 0) {
  for (let after = afterSeq; ; ) {
    const part = await audit.list({ afterSeq: after, limit: 1_000 })
    const last = part.at(-1)
    if (last === undefined) return
    yield part
    after = last.seq
  }
}

export function createAuditQueries({ audit, keys }: { audit: AuditStore; keys: MasterKey }): AuditQueries {
  const queries: AuditQueries = {
    async list(query) {
      assertWhole('limit', query.limit, 1)
      return audit.list(query)
    },
    async head() {
      const newest = await audit.newest()
      return newest && { seq: newest.seq, at: newest.at, hash: newest.hash }
    },
    async verify({ onProgress, signal } = {}) {
      const [first] = await audit.list({ limit: 1 })
      let before = first === undefined || first.seq === 1 ? null : await findLastRemoved(audit, first)
      let last: AuditHead | null = null
      let records = 0
      signal?.throwIfAborted()
      for await (const part of readAuditParts(audit)) {
        for (const record of part) {
          const expectedSeq: number = (before?.seq ?? 0) + 1
          const key = keys.find(record.keyVersion)
          const hash = key && hashRecord(key, before?.hash ?? initialHash, record)
          if (record.seq !== expectedSeq || record.hash !== hash) {
            // If retention removed records meanwhile, the check begins again.
            const isSame = (await audit.list({ limit: 1 }))[0]?.seq === first?.seq
            return isSame ? { records, last, brokenAt: expectedSeq } : queries.verify({ onProgress, signal })
          }
          last = { seq: record.seq, hash: record.hash, at: record.at }
          before = last
          records += 1
        }
        onProgress?.(records)
        signal?.throwIfAborted()
      }
      return { records, last, brokenAt: null }
    },
  }
  return queries
}

export const announceIntervalMs = 24 * 60 * 60_000

/** Builds a loop that publishes `audit.head` when it starts and every day after; an empty log has no head. */
export function createHeadAnnouncer(deps: {
  readonly audit: Pick<AuditQueries, 'head'>
  readonly clock: Clock
  readonly random: Pick<RandomSource, 'fraction'>
  readonly logger: Logger
  readonly publish: EventSink
}): Loop {
  const { audit, clock, random, logger, publish } = deps
  return {
    async run(signal) {
      let failures = 0
      while (!signal.aborted) {
        try {
          const head = await audit.head()
          if (head !== null) publish({ type: 'audit.head', ...head })
          failures = 0
        } catch (error) {
          logger.warn({ error: describeError(error) }, 'The newest record of the audit log could not be read.')
          failures += 1
        }
        await clock.sleep(failures === 0 ? announceIntervalMs : computeBackoffMs(failures, random.fraction()), signal)
      }
    },
  }
}

/** A URL's origin and, if more follows, a keyed fingerprint of the whole: it shows changes, but no secret. */
export function redactUrl(key: VersionedKey, url: string | null): string | null {
  if (url === null) return null
  const origin = parseUrl(url)?.origin ?? 'unreadable'
  if (url === origin || url === `${origin}/`) return url
  const digest = createHmac('sha256', key.derive('audit-url')).update(url, 'utf8').digest('hex')
  // Enough digits to distinguish the URLs of one integration.
  return `${origin}/[${digest.slice(0, 12)}]`
}

/** The hash before the first record. */
const initialHash = ''

/** HMAC-SHA256 over the previous hash and all fields: write access to the database is not enough for a forgery. */
function hashRecord(key: VersionedKey, previous: string, record: Omit<AuditRecord, 'hash'>): string {
  const { seq, at, actor, action, subject, details, keyVersion } = record
  const sorted = Object.entries(details).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // An array has one order, so equal records have equal text.
  const text = JSON.stringify([seq, at, actor, action, subject, sorted, keyVersion])
  return createHmac('sha256', key.derive('audit')).update(`${previous}\n${text}`, 'utf8').digest('hex')
}

export type AuditNote = Pick<AuditEntry, 'action' | 'subject'> & Partial<Pick<AuditEntry, 'details'>>

/** Locks the audit log, runs `work` and records its notes. `work` may run again, so it must only touch `tx`. */
export type Audited = <T>(work: (tx: StoreTransaction, note: (note: AuditNote) => void) => Promise<T>) => Promise<T>

/** Adds one audit record in a transaction of its own: for an act that changes no stored data, or before the act. */
export const recordNote = (audited: Audited, note: AuditNote): Promise<void> => audited(async (_tx, add) => add(note))

/** Dependencies that most commands share. */
export interface CommandDeps {
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Clock
  readonly random: Pick<RandomSource, 'bytes'>
}

interface AuditedDeps {
  readonly transaction: Store['transaction']
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly actor: string
}

const maxActorLength = 200

/** @throws RangeError When the actor is blank or longer than 200 characters. */
export function createAudited({ transaction, keys, clock, actor }: AuditedDeps): Audited {
  if (actor.trim() === '' || actor.length > maxActorLength)
    throw new RangeError(`actor has ${actor.length} characters; pass 1 to ${maxActorLength} that are not all blank.`)
  return (work) =>
    transaction(async (tx) => {
      const newest = await tx.lockAudit()
      const notes: AuditNote[] = []
      const value = await work(tx, (note) => void notes.push(note))
      let { seq, hash } = newest ?? { seq: 0, hash: initialHash }
      for (const { action, subject, details = {} } of notes) {
        seq += 1
        const entry = { seq, at: clock.now(), actor, action, subject, details, keyVersion: keys.current.version }
        hash = hashRecord(keys.current, hash, entry)
        await tx.appendAudit({ ...entry, hash })
      }
      return value
    })
}
