/** Stores the audit log; the core fills and chains its records. @module */
import type { AuditAction, AuditRecord, AuditStore, StoreTransaction } from '@payment-integration/core/internal'
import type { Connection } from '../engine.js'
import { checkInteger, pack, toNumber, unpack } from '../internal/values.js'
import type { Tables } from '../schema/tables.js'

export async function listAudit(
  db: Connection,
  { afterSeq = 0, limit }: Parameters<AuditStore['list']>[0],
): Promise<AuditRecord[]> {
  const rows = await db
    .selectFrom('audit')
    .selectAll()
    .where('seq', '>', checkInteger(afterSeq, 'afterSeq'))
    .orderBy('seq')
    .limit(checkInteger(limit, 'limit', 1))
    .execute()
  return rows.map(toAuditRecord)
}

export async function readNewestAudit(db: Connection): Promise<AuditRecord | null> {
  const row = await db.selectFrom('audit').selectAll().orderBy('seq', 'desc').limit(1).executeTakeFirst()
  return row === undefined ? null : toAuditRecord(row)
}

type AuditTransaction = Pick<StoreTransaction, 'lockAudit' | 'appendAudit' | 'removeAudit' | 'restoreAudit'>

export function bindAudit(db: Connection): AuditTransaction {
  /** Sequence number of the next record; null before the log is locked. */
  let nextSeq: number | null = null
  return {
    async lockAudit() {
      await db.dialect.lock(db, 'audit')
      const newest = await readNewestAudit(db)
      nextSeq = (newest?.seq ?? 0) + 1
      return newest
    },
    async appendAudit(record) {
      if (record.seq !== nextSeq)
        throw new RangeError(
          nextSeq === null
            ? 'A record was added to the audit log without lockAudit before it.'
            : `The record has seq ${record.seq}; the next record must have seq ${nextSeq}.`,
        )
      await db.insertInto('audit').values(toValues(record)).execute()
      nextSeq += 1
    },
    async removeAudit(upToSeq) {
      await db.deleteFrom('audit').where('seq', '<=', checkInteger(upToSeq, 'upToSeq')).execute()
    },
    async restoreAudit(records) {
      for (const record of records)
        await db
          .insertInto('audit')
          .values(toValues(record))
          .onConflict((conflict) => conflict.column('seq').doNothing())
          .execute()
    },
  }
}

function toValues({ actor, subject, details, keyVersion, seq, at, action, hash }: AuditRecord) {
  const packed = { actor: pack(actor), subject: pack(subject), details: pack(details) }
  return { seq, at, action, hash, key_version: keyVersion, ...packed }
}

export function toAuditRecord(row: Tables['audit']): AuditRecord {
  return {
    seq: toNumber(row.seq),
    at: toNumber(row.at),
    actor: unpackIfValid<string>(row.actor),
    action: row.action as AuditAction,
    subject: unpackIfValid<string>(row.subject),
    details: unpackIfValid<AuditRecord['details']>(row.details),
    keyVersion: toNumber(row.key_version),
    hash: row.hash,
  }
}

/** Unpacks a field. Returns malformed text as stored: the hash of the record shows that it was altered. */
function unpackIfValid<T>(text: string): T {
  try {
    return unpack<T>(text)
  } catch {
    return text as T
  }
}
