/** Reads deliveries and attempts for the console. Source: the port ConsoleReads. @module */
import type { ConsolePage, ConsoleReads, DeliveryFilter, DeliveryView } from '@payment-integration/core/ports'
import { type NotNull, sql } from 'kysely'
import { filtered } from '../deliveries/filter.js'
import { viewColumns, withAttempts } from '../deliveries/list.js'
import type { Connection, Engine } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { keyBytes } from '../internal/hex.js'
import { integer, nullableInteger, unpack } from '../internal/values.js'
import { findIds } from './delivery-keys.js'
import { checkIds } from './payment-reads.js'

const mostRows = 1_000

type DeliveryReads = Pick<ConsoleReads, 'deliveriesOf' | 'deliveries' | 'deliveriesById' | 'attempts'>

/** The reads of a database. */
export function createDeliveryReads(engine: Engine): DeliveryReads {
  const { read: db } = engine
  return {
    async deliveriesOf(paymentId) {
      const rows = await viewRows(db).where('d.payment_id', '=', parseId(paymentId, 'paymentId')).execute()
      return (await withAttempts(engine, rows)).sort((a, b) => a.version - b.version)
    },
    async deliveries({ limit, ...filter }) {
      checkInteger(limit, 'limit', 1, mostRows)
      if (filter.txHash !== undefined) return deliveriesOfTransaction(engine, filter, limit)
      const { ids, ...page } = await findIds(engine, filter, limit)
      return { ...page, rows: await deliveriesWithIds(engine, ids) }
    },
    async deliveriesById(ids) {
      const keys = checkIds(ids).map((id) => parseId(id, 'deliveryId'))
      return (await deliveriesWithIds(engine, keys)).reverse()
    },
    async attempts({ since, limit }) {
      const rows = await attemptsQuery(db, since, limit).execute()
      return rows.map((row) => ({
        deliveryId: String(row.delivery_id),
        number: integer(row.number),
        startedAt: integer(row.started_at),
        latencyMs: row.latency_ms,
        status: nullableInteger(row.status),
        reason: unpack<string>(row.reason),
      }))
    },
  }
}

/** Newest first. */
async function deliveriesWithIds(engine: Engine, ids: readonly number[]): Promise<DeliveryView[]> {
  if (ids.length === 0) return []
  return withAttempts(engine, await viewRows(engine.read).where('d.id', 'in', ids).orderBy('d.id', 'desc').execute())
}

/** They are few: other filters select among them here, so that no planner prefers an index of those. */
async function deliveriesOfTransaction(
  engine: Engine,
  { txHash = '', beforeId, ...filter }: DeliveryFilter & { readonly beforeId?: string | undefined },
  limit: number,
): Promise<ConsolePage<DeliveryView, string>> {
  const payments = await transactionQuery(engine.read, txHash).execute()
  if (payments.length === 0) return { rows: [], next: null, isCut: false }
  const ids = payments.map(({ id }) => id)
  const before = beforeId === undefined ? Number.POSITIVE_INFINITY : parseId(beforeId, 'beforeId')
  const all = await withAttempts(engine, await viewRows(engine.read).where('d.payment_id', 'in', ids).execute())
  const found = all
    .filter((delivery) => Number(delivery.deliveryId) < before && isMatch(delivery, filter))
    .sort((a, b) => Number(b.deliveryId) - Number(a.deliveryId))
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? (rows.at(-1)?.deliveryId ?? null) : null, isCut: false }
}

/** Payments of a transaction that are notified. */
export function transactionQuery(db: Connection, txHash: string) {
  return db
    .selectFrom('payments')
    .select('id')
    .where('tx_hash', '=', keyBytes(txHash))
    .where(sql<boolean>`is_primary = 1`)
}

function isMatch(delivery: DeliveryView, filter: Omit<DeliveryFilter, 'txHash'>): boolean {
  const { integrationAddress, chainId, status, since = 0, until = Number.POSITIVE_INFINITY } = filter
  const createdAt = delivery.createdAt ?? 0
  return (
    (integrationAddress === undefined || delivery.integrationAddress === integrationAddress) &&
    (chainId === undefined || delivery.chainId === chainId) &&
    (status === undefined || delivery.status === status) &&
    createdAt >= since &&
    createdAt < until
  )
}

/** Deliveries with their payments, and the time of the next attempt while pending. */
export function viewRows(db: Connection) {
  return filtered(db, {}).select(viewColumns).$narrowType<{ integration: NotNull }>()
}

/** Attempts since a time, newest first. */
export function attemptsQuery(db: Connection, since: number, limit: number) {
  return db
    .selectFrom('attempts')
    .select(['delivery_id', 'number', 'started_at', 'latency_ms', 'status', 'reason'])
    .where('started_at', '>=', checkInteger(since, 'since'))
    .orderBy('started_at', 'desc')
    .limit(checkInteger(limit, 'limit', 1))
}
