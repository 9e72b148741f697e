/** Reads deliveries and attempts for the console. Source: the port ConsoleReads. @module */
import type { ConsoleReads, DeliveryFilter } from '@payment-integration/core/ports'
import { filtered, idOf, type RangeFilter } from '../deliveries/filter.js'
import { withAttempts } from '../deliveries/list.js'
import type { Connection, Engine } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { integer, nullableInteger, unpack } from '../internal/values.js'
import { checkIds } from './payment-reads.js'

/** Most ids that one page examines where no index fits its filter. */
const mostExamined = 10_000
const mostRows = 1_000

type DeliveryReads = Pick<ConsoleReads, 'deliveriesOf' | 'deliveries' | 'deliveriesById' | 'attempts'>

/** The reads of a database. */
export function createDeliveryReads(engine: Engine): DeliveryReads {
  const { read: db } = engine
  return {
    async deliveriesOf(paymentId) {
      const rows = await viewRows(db, {}).where('d.payment_id', '=', parseId(paymentId, 'paymentId')).execute()
      return (await withAttempts(engine, rows)).sort((a, b) => a.version - b.version)
    },
    async deliveries({ limit, beforeId, ...filter }) {
      checkInteger(limit, 'limit', 1, mostRows)
      const before = beforeId === undefined ? (await newestId(db)) + 1 : parseId(beforeId, 'beforeId')
      const upTo = filter.until === undefined ? before : Math.min(before, await firstIdAt(db, filter.until))
      const from = filter.since === undefined ? 1 : await firstIdAt(db, filter.since)
      const low = isIndexed(filter) ? from : Math.max(from, upTo - mostExamined)
      const range = { ...filter, afterId: String(Math.max(0, low - 1)), upToId: String(Math.max(0, upTo - 1)) }
      const found = await newestQuery(db, range, limit + 1).execute()
      const rows = await withAttempts(engine, found.slice(0, limit))
      const last = rows.at(-1)
      if (found.length > limit && last !== undefined) return { rows, next: last.deliveryId, isCut: false }
      return low > from ? { rows, next: String(low), isCut: true } : { rows, next: null, isCut: false }
    },
    async deliveriesById(ids) {
      if (checkIds(ids).length === 0) return []
      const keys = ids.map((id) => parseId(id, 'deliveryId'))
      return withAttempts(engine, await viewRows(db, {}).where('d.id', 'in', keys).orderBy('d.id').execute())
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

/** Whether the filter has an index of its own. A filter by times selects ids, and examines no other rows. */
const isIndexed = ({ chainId, status }: DeliveryFilter) => chainId === undefined && status !== 'delivered'

function viewRows(db: Connection, filter: RangeFilter) {
  return filtered(db, filter).select([
    'd.id',
    'd.integration',
    'd.version',
    'd.undelivered',
    'q.due_at',
    'd.created_at',
    'p.chain_id',
    'p.tx_hash',
  ])
}

/** Deliveries of a range, newest first. */
export function newestQuery(db: Connection, range: RangeFilter, limit: number) {
  return viewRows(db, range).orderBy(idOf(range), 'desc').limit(limit)
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

async function newestId(db: Connection): Promise<number> {
  const row = await db.selectFrom('deliveries').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return integer(row?.id ?? 0)
}

/**
 * The lowest id of a delivery created at a time or later, by bisection: ids rise with the time. Ids of transactions
 * that run at once may be in another order, so the filter compares the time itself, too.
 */
async function firstIdAt(db: Connection, time: number): Promise<number> {
  checkInteger(time, 'time')
  let low = 1
  let high = (await newestId(db)) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = await db
      .selectFrom('deliveries')
      .select(['id', 'created_at'])
      .where('id', '>=', middle)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst()
    if (row === undefined || integer(row.created_at ?? 0) >= time) high = middle
    else low = integer(row.id) + 1
  }
  return low
}
