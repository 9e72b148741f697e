/** Listings of deliveries for operators. @module */
import type { AttemptRecord, DeliveryFilter, DeliveryStore, DeliveryView } from '@payment-integration/core/ports'
import { type NotNull, type Selectable, sql } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { hexOf } from '../internal/hex.js'
import { run } from '../internal/statement.js'
import { integer, nullableInteger } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import type { AttemptRow } from '../schema/tables.js'
import { attemptRecord } from './attempt-row.js'
import { filtered, idOf, type RangeFilter } from './filter.js'
import { withIdRange } from './first-id.js'
import { hasEnded } from './missing.js'

/** Matching deliveries with their attempts, oldest first. */
export async function listDeliveries(
  engine: Engine,
  query: Parameters<DeliveryStore['list']>[0],
): Promise<DeliveryView[]> {
  return withAttempts(engine, await listQuery(engine.read, await withIdRange(engine.read, query)).execute())
}

/** One delivery, or null. */
export async function findDelivery(engine: Engine, deliveryId: string): Promise<DeliveryView | null> {
  const [view] = await withAttempts(engine, await listQuery(engine.read, { deliveryId, limit: 1 }).execute())
  return view ?? null
}

/** The id of the newest match, or null. */
export async function newestDelivery({ read }: Engine, filter: DeliveryFilter): Promise<string | null> {
  const row = await newestQuery(read, await withIdRange(read, onlyFilter(filter))).executeTakeFirst()
  return row === undefined ? null : String(row.id)
}

/** Its statement. */
export function newestQuery(db: Connection, filter: DeliveryFilter) {
  return filtered(db, filter).select('d.id').orderBy(idOf(filter), 'desc').limit(1)
}

/** The number of matches, up to `atMost`. */
export async function countDeliveries({ read }: Engine, filter: DeliveryFilter, atMost?: number): Promise<number> {
  const only = await withIdRange(read, onlyFilter(filter))
  const query = atMost === undefined ? countQuery(read, only) : boundedCountQuery(read, only, atMost)
  const row = await query.executeTakeFirst()
  return integer(row?.deliveries ?? 0)
}

/** Its statement. */
export function countQuery(db: Connection, filter: DeliveryFilter) {
  return filtered(db, filter).select(sql<Integer>`count(*)`.as('deliveries'))
}

/** The statement that stops at a limit. */
export function boundedCountQuery(db: Connection, filter: DeliveryFilter, atMost: number) {
  const matches = filtered(db, filter).select('d.id').limit(atMost)
  return db.selectFrom(matches.as('matches')).select(sql<Integer>`count(*)`.as('deliveries'))
}

/** The fields of the filter without others that the object may have, such as a range. */
function onlyFilter({ integrationAddress, chainId, txHash, status, since, until }: DeliveryFilter): DeliveryFilter {
  return { integrationAddress, chainId, txHash, status, since, until }
}

const ended = sql<Integer>`case when ${hasEnded('d.id')} then 1 else 0 end`.as('ended')

/** The columns of a listed delivery. */
export const viewColumns = [
  'd.id',
  'd.integration',
  'd.version',
  'd.undelivered',
  'q.due_at',
  'd.created_at',
  'p.chain_id',
  'p.tx_hash',
  ended,
] as const

/** The rows of a listing, without their attempts. */
export function listQuery(db: Connection, query: RangeFilter & { readonly limit: number }) {
  return filtered(db, query)
    .select(viewColumns)
    .$narrowType<{ integration: NotNull }>()
    .orderBy(idOf(query))
    .limit(checkInteger(query.limit, 'limit', 1))
}

type ListRow = Awaited<ReturnType<ReturnType<typeof listQuery>['execute']>>[number]

/** Deliveries with their attempts, in the order given. */
export async function withAttempts({ read, dialect }: Engine, deliveries: readonly ListRow[]): Promise<DeliveryView[]> {
  if (deliveries.length === 0) return []
  const { name, oneOf } = dialect
  const ids = deliveries.map(({ id }) => integer(id))
  const attempts = await run<Selectable<AttemptRow>>(
    read,
    dialect,
    (parameter) => `select * from ${name('attempts')} where ${oneOf('delivery_id', 'integer', ids, parameter)}
      order by delivery_id, number`,
  )
  const byDelivery = new Map<number, AttemptRecord[]>(deliveries.map(({ id }) => [integer(id), []]))
  for (const row of attempts) byDelivery.get(integer(row.delivery_id))?.push(attemptRecord(row))
  return deliveries.map((row): DeliveryView => {
    const id = integer(row.id)
    return {
      deliveryId: String(id),
      integrationAddress: hexOf(row.integration),
      chainId: integer(row.chain_id),
      txHash: hexOf(row.tx_hash),
      version: integer(row.version),
      status: statusOf(row, byDelivery.get(id) ?? []),
      createdAt: integer(row.created_at),
      attempts: byDelivery.get(id) ?? [],
      nextAttemptAt: nullableInteger(row.due_at),
    }
  })
}

function statusOf(row: ListRow, attempts: readonly AttemptRecord[]): DeliveryView['status'] {
  if (row.due_at !== null) return 'pending'
  if (row.undelivered !== null) return row.undelivered as 'exhausted' | 'superseded'
  return integer(row.ended) === 1 || attempts.some(({ reason }) => reason === null) ? 'delivered' : 'missing'
}
