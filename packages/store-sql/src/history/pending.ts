/** Pending deliveries of old segments: counts them, and gives them up. Source: docs/retention.md. @module */
import type { PendingDeliveries } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { giveUp } from '../deliveries/leave-outbox.js'
import type { Engine } from '../engine.js'
import { hexOf } from '../internal/hex.js'
import { run } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { findSegment } from './segments.js'

/** Counts the pending deliveries of the segments up to one. */
export async function pendingUpTo({ read, dialect }: Engine, upTo: number): Promise<PendingDeliveries[]> {
  const { deliveries } = await findSegment(read, upTo)
  const segment = sql<Integer>`coalesce((select max(s.number) from ${sql.raw(dialect.name('segments'))} as s
    where s.first_delivery <= q.id), 0)`
  const rows = await read
    .selectFrom('outbox as q')
    .select([segment.as('segment'), 'q.integration', sql<Integer>`count(*)`.as('count')])
    .where('q.id', '<', deliveries.to)
    .groupBy(['segment', 'q.integration'])
    .orderBy('segment')
    .orderBy('q.integration')
    .execute()
  return rows.map((row) => ({
    segment: integer(row.segment),
    integrationAddress: hexOf(row.integration),
    count: integer(row.count),
  }))
}

/** Deliveries of one transaction. */
const groupSize = 1_000

/** Gives up the pending deliveries of the segments up to one, but for leased ones. */
export async function giveUpPending({ transaction, read, dialect }: Engine, upTo: number): Promise<number> {
  const { name, nowText, skipLocked } = dialect
  const { deliveries } = await findSegment(read, upTo)
  let given = 0
  for (let found = groupSize; found === groupSize; given += found)
    found = await transaction(async (db) => {
      const rows = await run<{ id: Integer }>(
        db,
        dialect,
        (parameter) => `select q.id from ${name('outbox')} q
          where q.id < ${parameter(deliveries.to)} and (q.claim_token is null or q.due_at <= ${nowText(parameter)})
          order by q.id limit ${groupSize}${skipLocked('q')}`,
      )
      const ids = rows.map(({ id }) => integer(id))
      await giveUp(db, dialect, 'exhausted', ids)
      return ids.length
    })
  return given
}
