/** Converts attempts to rows and back. @module */
import type { AttemptRecord } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { BulkColumn } from '../engine.js'
import { integer, nullableInteger, pack, unpack } from '../internal/values.js'
import type { AttemptRow } from '../schema/tables.js'

/** The columns of {@link attemptValues}. */
export const attemptColumns: readonly BulkColumn[] = [
  { name: 'delivery_id', type: 'integer' },
  { name: 'number', type: 'integer' },
  { name: 'started_at', type: 'integer' },
  { name: 'latency_ms', type: 'real' },
  { name: 'status', type: 'integer' },
  { name: 'reason', type: 'text' },
  { name: 'excerpt', type: 'text' },
  { name: 'replay', type: 'integer' },
]

/** The row of an attempt. @param id - Of its delivery. */
export function attemptValues(id: number, number: number, attempt: AttemptRecord): unknown[] {
  const { startedAt, latencyMs, status, reason, excerpt, replay } = attempt
  return [id, number, startedAt, latencyMs, status, pack(reason), pack(excerpt), replay ? 1 : 0]
}

/** The attempt of a row. */
export function attemptRecord(row: Selectable<AttemptRow>): AttemptRecord {
  return {
    startedAt: integer(row.started_at),
    latencyMs: row.latency_ms,
    status: nullableInteger(row.status),
    reason: unpack<string>(row.reason),
    excerpt: unpack<string>(row.excerpt),
    replay: integer(row.replay) === 1,
  }
}
