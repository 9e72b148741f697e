/** What an attempt came to. Source: DESIGN section 3 (retries). @module */
import type { AttemptVerdict, DeliveryStatus, DeliveryStore } from '@payment-integration/core/ports'
import { type RawBuilder, sql } from 'kysely'
import type { Differences, Engine } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { pack } from '../internal/values.js'

/** Logs the attempt and settles, reschedules or exhausts the delivery; null when the claim was lost. */
export function createSettle({ transaction, differences }: Engine): DeliveryStore['settle'] {
  return async (claim, attempt, verdict) => {
    const id = parseId(claim.deliveryId, 'deliveryId')
    if (verdict.kind === 'retry') checkInteger(verdict.inMs, 'inMs')
    return transaction(async (db) => {
      const settled = await db
        .updateTable('deliveries')
        .set((eb) => ({
          attempted: eb('attempted', '+', 1),
          claim_token: null,
          ...outcome(differences, verdict),
        }))
        .where('id', '=', id)
        .where('status', '=', sql.lit('pending'))
        .where('claim_token', '=', claim.claimToken)
        .returning(['status', 'attempted'])
        .executeTakeFirst()
      if (settled === undefined) return null
      await db
        .insertInto('attempts')
        .values({
          delivery_id: id,
          number: settled.attempted,
          started_at: attempt.startedAt,
          latency_ms: attempt.latencyMs,
          status: attempt.status,
          reason: pack(attempt.reason),
        })
        .execute()
      return settled.status as DeliveryStatus
    })
  }
}

function outcome(differences: Differences, verdict: AttemptVerdict) {
  if (verdict.kind !== 'retry') return { status: verdict.kind, due_at: null }
  // Both columns ask the same: the newer version is owed its own attempt, and receivers would discard this one.
  const whenOvertaken = <T>(then: RawBuilder<T>, otherwise: RawBuilder<T>) => sql<T>`case when exists (
      select 1 from ${sql.raw(differences.name('deliveries'))} n
      where n.payment_id = deliveries.payment_id and n.version > deliveries.version
    ) then ${then} else ${otherwise} end`
  return {
    status: whenOvertaken(sql.lit('superseded'), sql.lit('pending')),
    due_at: whenOvertaken<number | null>(sql.lit(null), sql`${differences.now()} + ${verdict.inMs}`),
  }
}
