/** Deliveries as an operator sees them. @module */
import type { AttemptRecord, DeliveryStatus, DeliveryStore, DeliveryView } from '@payment-integration/core/ports'
import { type Selectable, sql } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { integer, nullableInteger, unpack } from '../internal/values.js'
import type { AttemptRow } from '../schema/tables.js'

/** Lists deliveries with their attempts, oldest first. */
export function createList({ read }: Engine): DeliveryStore['list'] {
  return async (query) => {
    const deliveries = await listQuery(read, query).execute()
    if (deliveries.length === 0) return []
    const attempts = await read
      .selectFrom('attempts')
      .selectAll()
      .where(
        'delivery_id',
        'in',
        deliveries.map(({ id }) => id),
      )
      .orderBy('delivery_id')
      .orderBy('number')
      .execute()
    const byDelivery = new Map<number, AttemptRecord[]>(deliveries.map(({ id }) => [integer(id), []]))
    for (const row of attempts) byDelivery.get(integer(row.delivery_id))?.push(attemptRecord(row))
    return deliveries.map((row): DeliveryView => {
      const id = integer(row.id)
      return {
        deliveryId: String(id),
        integrationAddress: row.integration,
        chainId: integer(row.chain_id),
        txHash: row.tx_hash,
        version: integer(row.version),
        status: row.status as DeliveryStatus,
        attempts: byDelivery.get(id) ?? [],
        nextAttemptAt: nullableInteger(row.due_at),
      }
    })
  }
}

/** The rows of a list, without their attempts. */
export function listQuery(db: Connection, query: Parameters<DeliveryStore['list']>[0]) {
  const { chainId, txHash, status } = query
  const limit = checkInteger(query.limit, 'limit', 1)
  const afterId = query.afterId === undefined ? 0 : parseId(query.afterId, 'afterId')
  return (
    db
      .selectFrom('deliveries as d')
      .innerJoin('payments as p', 'p.id', 'd.payment_id')
      .select(['d.id', 'd.integration', 'd.version', 'd.status', 'd.due_at', 'p.chain_id', 'p.tx_hash'])
      .where('d.id', '>', afterId)
      // Only primary payments are notified; saying so lets the planners find a hash by its index.
      .$if(txHash !== undefined, (rows) =>
        rows.where('p.tx_hash', '=', txHash ?? '').where(sql<boolean>`p.is_primary = 1`),
      )
      .$if(chainId !== undefined, (rows) => rows.where('p.chain_id', '=', chainId ?? 0))
      .$if(status !== undefined, (rows) => rows.where('d.status', '=', status ?? 'pending'))
      .$if(status !== undefined && status !== 'delivered', (rows) => rows.where(sql<boolean>`d.status <> 'delivered'`))
      .orderBy('d.id')
      .limit(limit)
  )
}

function attemptRecord(row: Selectable<AttemptRow>): AttemptRecord {
  return {
    startedAt: integer(row.started_at),
    latencyMs: row.latency_ms,
    status: nullableInteger(row.status),
    reason: unpack<string>(row.reason),
  }
}
