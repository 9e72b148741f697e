/** Finds deliveries that are neither in the outbox nor ended. See docs/decisions/missing-deliveries.md. @module */
import type { ExaminedVersions } from '@payment-integration/core/ports'
import { expressionBuilder, type RawBuilder, sql } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { integer, nullableInteger } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import type { Tables } from '../schema/tables.js'

const { selectFrom } = expressionBuilder<Tables>()

/** Ids from this one on have a history that may still change: their segments are not closed. */
const lowestOpen = selectFrom('segments as closed')
  .select(({ fn }) => fn.coalesce(fn.max('closed.first_delivery'), sql.lit(0)).as('lowest'))
  .where('closed.closes', '=', sql.lit(1))

/** Whether the history of a delivery has ended: its attempts may be in a file. */
export const hasEnded = (id: string): RawBuilder<boolean> => sql`${sql.ref(id)} < ${lowestOpen}`

/**
 * A condition: a delivery that is not in the outbox and has no other end was delivered. Otherwise it is missing. A
 * subquery per delivery: PostgreSQL may hash the attempts of all deliveries for `exists`.
 */
export function isDelivered(id: string): RawBuilder<boolean> {
  const success = selectFrom('attempts as success')
    .select('success.number')
    .where('success.delivery_id', '=', sql.ref<Integer>(id))
    .where('success.reason', 'is', null)
    .limit(sql.lit(1))
  return sql`(${hasEnded(id)} or ${success} is not null)`
}

/** Examines versions of open segments, newest first. */
export async function findMissing(
  { read }: Pick<Engine, 'read'>,
  { beforeId, limit }: { readonly beforeId?: string | undefined; readonly limit: number },
): Promise<ExaminedVersions> {
  const before = beforeId === undefined ? Number.MAX_SAFE_INTEGER : parseId(beforeId, 'beforeId')
  const row = await missingQuery(read, before, checkInteger(limit, 'limit', 1)).executeTakeFirstOrThrow()
  const lowest = nullableInteger(row.lowest)
  return {
    examined: integer(row.examined),
    missing: integer(row.missing),
    lowestId: lowest === null ? null : String(lowest),
  }
}

/** The statement of {@link findMissing}. */
export function missingQuery(db: Connection, before: number, limit: number) {
  const examined = db
    .selectFrom('snapshots')
    .select(['id', 'integration', 'undelivered'])
    .where('id', '<', before)
    .where('id', '>=', lowestOpen)
    .orderBy('id', 'desc')
    .limit(limit)
  const pending = selectFrom('outbox as q').select('q.id').whereRef('q.id', '=', sql.ref('d.id'))
  const isMissing = sql<boolean>`d.integration is not null and d.undelivered is null
    and ${pending} is null and not ${isDelivered('d.id')}`
  return db
    .selectFrom(examined.as('d'))
    .select(({ fn }) => [fn.countAll<Integer>().as('examined'), fn.min('d.id').as('lowest')])
    .select(sql<Integer>`coalesce(sum(case when ${isMissing} then 1 else 0 end), 0)`.as('missing'))
}
