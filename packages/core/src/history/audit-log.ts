/** Reads the audit log, checks its chain and publishes its newest record. Source: docs/decisions/audit.md. @module */

import type { ServiceEvent } from '../events.js'
import { assertWhole, backoffMs, describeError, type Loop } from '../internal/values.js'
import type { Clock, Logger, Random } from '../ports/world.js'
import type { MasterKey } from '../secrets/keys.js'
import type { AuditHead, AuditQueries, AuditRecord, AuditStore } from './audit-store.js'
import { beforeFirst, hashRecord } from './audited.js'

/**
 * The record before the first one, as the record about the removal has it: that one is in the chain, so nobody without
 * the key can make it up. Null: there is none.
 */
export async function findBeginning(audit: AuditStore, first: AuditRecord): Promise<AuditHead | null> {
  const removed = first.seq - 1
  for await (const part of auditParts(audit, removed))
    for (const { action, subject, details } of part)
      if (action === 'history.archived' && subject === 'audit' && details['upTo'] === removed)
        return { seq: removed, hash: String(details['hash']), at: first.at }
  return null
}

/** Records of a part. */
const partSize = 1_000

/** The records after one of them, in their order, in parts that are not empty. */
export async function* auditParts(
  audit: Pick<AuditStore, 'list'>,
  afterSeq = 0,
): AsyncGenerator<readonly AuditRecord[], void, undefined> {
  for (let after = afterSeq; ; ) {
    const part = await audit.list({ afterSeq: after, limit: partSize })
    const last = part.at(-1)
    if (last === undefined) return
    yield part
    after = last.seq
  }
}

/** Builds the queries. */
export function createAuditQueries({ audit, keys }: { audit: AuditStore; keys: MasterKey }): AuditQueries {
  return {
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
      let before: AuditHead | null = first === undefined || first.seq === 1 ? null : await findBeginning(audit, first)
      let last: AuditHead | null = null
      let records = 0
      signal?.throwIfAborted()
      for await (const part of auditParts(audit)) {
        for (const record of part) {
          const expectedSeq: number = (before?.seq ?? 0) + 1
          if (record.seq !== expectedSeq || !fits(record, before?.hash ?? beforeFirst, keys))
            return { records, last, brokenAt: expectedSeq }
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
}

function fits(record: AuditRecord, previous: string, keys: MasterKey): boolean {
  const key = keys.find(record.keyVersion)
  return key !== undefined && hashRecord(key, previous, record) === record.hash
}

/** Time between two announcements, in milliseconds. */
export const announceEveryMs = 24 * 60 * 60_000

/** The dependencies of the announcer. */
interface AnnounceHeadDeps {
  readonly audit: Pick<AuditQueries, 'head'>
  readonly clock: Clock
  readonly random: Pick<Random, 'fraction'>
  readonly logger: Logger
  readonly publish: (event: ServiceEvent) => void
}

/** Builds a loop that publishes `audit.head` when it starts and every day after; an empty log has no head. */
export function createHeadAnnouncer({ audit, clock, random, logger, publish }: AnnounceHeadDeps): Loop {
  /** Resolves whether the log could be read. */
  async function announce(): Promise<boolean> {
    try {
      const head = await audit.head()
      if (head !== null) publish({ type: 'audit.head', ...head })
      return true
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'The newest record of the audit log could not be read.')
      return false
    }
  }
  return {
    async run(signal) {
      let failures = 0
      while (!signal.aborted) {
        failures = (await announce()) ? 0 : failures + 1
        await clock.sleep(failures === 0 ? announceEveryMs : backoffMs(failures, random.fraction()), signal)
      }
    },
  }
}
