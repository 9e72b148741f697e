/** Reads deliveries and attempts for the console by index searches of limited length. @module */
import type { ConsolePage, ConsoleReads, DeliveryFilter, DeliveryView } from '@payment-integration/core/internal'
import { type NotNull, type Selectable, sql } from 'kysely'
import { findFirstIdAt, isDelivered, selectFiltered, viewColumns, withAttempts } from '../deliveries/delivery-lists.js'
import type { Connection } from '../engine.js'
import type { IdRange } from '../history/segments.js'
import { createFragment } from '../internal/statements.js'
import { checkInteger, parseId, parseKey, toNullableNumber, toNumber, unpack } from '../internal/values.js'
import type { Tables } from '../schema/tables.js'
import { checkIds, maxRows } from './payment-reads.js'

/** Versions that the first and the second statement of a page examine, where no index fits the filter. */
const examinedPerStatement = [250, 1_750]

type Filter = Omit<DeliveryFilter, 'txHash'>

/** Finds a page, newest first. Ids ascend with time, so times are converted to ids. */
async function findIds(
  db: Connection,
  filter: Filter & { readonly beforeId?: string | undefined },
  limit: number,
): Promise<ConsolePage<number, string>> {
  const ids: number[] = []
  const from = filter.since === undefined ? 1 : await findFirstIdAt(db, filter.since)
  const before = filter.beforeId === undefined ? Number.MAX_SAFE_INTEGER : parseId(filter.beforeId, 'beforeId')
  let to = filter.until === undefined ? before : Math.min(before, await findFirstIdAt(db, filter.until))
  const find = async (range: IdRange, size: number) => {
    const rows = await pageQuery(db, filter, range, size, limit + 1 - ids.length).execute()
    ids.push(...rows.map(({ id }) => toNumber(id)))
  }
  if (hasOwnIndex(filter)) {
    await find({ from, to }, limit + 1)
    return toPage(ids, limit)
  }
  for (const size of examinedPerStatement) {
    // The end is read first, so that deliveries added or removed in between do not shift others out of the page.
    const [last, following] = await keyQuery(db, filter, { from, to }, 2, size - 1).execute()
    const end = last === undefined || following === undefined ? null : toNumber(last.id)
    await find({ from: end ?? from, to }, 2 * size)
    if (ids.length > limit || end === null) break
    to = end
    if (size === examinedPerStatement.at(-1)) return { rows: ids, next: String(end), isCut: true }
  }
  return toPage(ids, limit)
}

const toPage = (matches: readonly number[], limit: number): ConsolePage<number, string> => ({
  rows: matches.slice(0, limit),
  next: matches.length > limit ? String(matches[limit - 1]) : null,
  isCut: false,
})

/** Whether an index contains only matching rows. The primary key does not: it has versions without a delivery too. */
const hasOwnIndex = (filter: Filter) =>
  (filter.integrationAddress !== undefined || filter.status !== undefined) &&
  filter.chainId === undefined &&
  getComparedStatus(filter) === undefined &&
  filter.since === undefined &&
  filter.until === undefined

/**
 * Selects the matching ids among at most `size` keys. That limit keeps planners on the index of the keys, and a
 * subquery per key limits the cost of any plan.
 */
export function pageQuery(db: Connection, filter: Filter, range: IdRange, size: number, limit: number) {
  const { chainId, since, until } = filter
  const status = getComparedStatus(filter)
  const keys = db
    .selectFrom(keyQuery(db, filter, range, size).as('k'))
    .select('k.id')
    .where('k.integration', 'is not', null)
  return (
    keys
      .$if(chainId !== undefined, (rows) =>
        rows.where(({ eb, selectFrom }) =>
          eb(selectFrom('payments as p').select('p.chain_id').whereRef('p.id', '=', 'k.payment_id'), '=', chainId ?? 0),
        ),
      )
      .$if(status === 'delivered' || status === 'missing', (rows) =>
        rows
          .where('k.undelivered', 'is', null)
          .where(status === 'delivered' ? isDelivered('k.id') : sql<boolean>`not ${isDelivered('k.id')}`),
      )
      .$if(status === 'pending' || status === 'delivered' || status === 'missing', (rows) =>
        rows.where(({ eb, selectFrom }) =>
          eb(
            selectFrom('outbox as q').select('q.id').whereRef('q.id', '=', 'k.id'),
            status === 'pending' ? 'is not' : 'is',
            null,
          ),
        ),
      )
      .$if(status === 'exhausted' || status === 'superseded', (rows) => rows.where('k.undelivered', '=', status ?? ''))
      // Concurrent transactions may get ids in another order than their times.
      .$if(since !== undefined, (rows) => rows.where(sql<boolean>`k.created_at >= ${since}`))
      .$if(until !== undefined, (rows) => rows.where(sql<boolean>`k.created_at < ${until}`))
      .orderBy('k.id', 'desc')
      .limit(limit)
  )
}

/** The status to compare row by row: no index has integration and status, or only delivered or missing deliveries. */
const getComparedStatus = ({ status, integrationAddress }: Filter) =>
  integrationAddress !== undefined || status === 'delivered' || status === 'missing' ? status : undefined

type Key = Pick<Selectable<Tables['snapshots']>, 'id' | 'payment_id' | 'integration' | 'created_at' | 'undelivered'>

/** Selects keys in the order of the index that fits the filter, or of the outbox. */
export function keyQuery(db: Connection, filter: Filter, range: IdRange, size: number, skipped = 0) {
  const { from, to } = range
  if (filter.status === 'pending' && filter.integrationAddress === undefined)
    return db
      .selectFrom('outbox')
      .select(['id', 'integration', sql<string | null>`null`.as('undelivered')])
      .select(({ selectFrom }) => {
        const snapshot = selectFrom('snapshots as s').whereRef('s.id', '=', 'outbox.id')
        return [snapshot.select('s.payment_id').as('payment_id'), snapshot.select('s.created_at').as('created_at')]
      })
      .where('id', '>=', from)
      .where('id', '<', to)
      .orderBy('id', 'desc')
      .limit(size)
      .offset(skipped)
      .$castTo<Key>()
  const lead = findLead(filter)
  const rows = db
    .selectFrom('snapshots')
    .select(['id', 'payment_id', 'integration', 'created_at', 'undelivered'])
    .limit(size)
    .offset(skipped)
    .$castTo<Key>()
  if (lead === null) return rows.where('id', '>=', from).where('id', '<', to).orderBy('id', 'desc')
  // This order exists only in the index of the filter: with other conditions PostgreSQL may scan the primary key.
  const ids = { value: lead.value, from, upTo: to - 1 }
  return rows
    .where(lead.column, 'is not', null)
    .where(createFragment<boolean>((parameter) => db.dialect.indexRange(lead.column, 'id', ids, parameter)))
    .orderBy(lead.column, 'desc')
    .orderBy('id', 'desc')
}

/** The first column of the index that fits the filter, and its value; null: the primary key. */
function findLead({ status, integrationAddress }: Filter) {
  // The integration first: its page by the index of statuses would read past the deliveries of other integrations.
  if (integrationAddress !== undefined) return { column: 'integration', value: parseKey(integrationAddress) } as const
  if (status === 'exhausted' || status === 'superseded') return { column: 'undelivered', value: status } as const
  return null
}

type DeliveryReads = Pick<ConsoleReads, 'deliveriesByPayment' | 'deliveries' | 'deliveriesById' | 'attempts'>

export function createDeliveryReads(db: Connection): DeliveryReads {
  return {
    async deliveriesByPayment(paymentId) {
      const rows = await selectViewRows(db).where('d.payment_id', '=', parseId(paymentId, 'paymentId')).execute()
      return (await withAttempts(db, rows)).sort((a, b) => a.version - b.version)
    },
    async deliveries({ limit, ...filter }) {
      checkInteger(limit, 'limit', 1, maxRows)
      if (filter.txHash !== undefined) return readDeliveriesOfTransaction(db, filter, limit)
      const page = await findIds(db, filter, limit)
      return { ...page, rows: await readDeliveriesWithIds(db, page.rows) }
    },
    async deliveriesById(ids) {
      const keys = checkIds(ids).map((id) => parseId(id, 'deliveryId'))
      return (await readDeliveriesWithIds(db, keys)).reverse()
    },
    async attempts({ since, limit }) {
      const rows = await attemptsQuery(db, since, limit).execute()
      return rows.map((row) => ({
        deliveryId: String(row.delivery_id),
        number: toNumber(row.number),
        startedAt: toNumber(row.started_at),
        latencyMs: row.latency_ms,
        status: toNullableNumber(row.status),
        reason: unpack<string>(row.reason),
      }))
    },
  }
}

async function readDeliveriesWithIds(db: Connection, ids: readonly number[]): Promise<DeliveryView[]> {
  if (ids.length === 0) return []
  const rows = await selectViewRows(db).where('d.id', 'in', ids).orderBy('d.id', 'desc').execute()
  return withAttempts(db, rows)
}

/** The deliveries of one transaction are few, so the other filters are applied here, where they mislead no planner. */
async function readDeliveriesOfTransaction(
  db: Connection,
  { txHash = '', beforeId, ...filter }: DeliveryFilter & { readonly beforeId?: string | undefined },
  limit: number,
): Promise<ConsolePage<DeliveryView, string>> {
  const payments = await transactionQuery(db, txHash).execute()
  if (payments.length === 0) return { rows: [], next: null, isCut: false }
  const ids = payments.map(({ id }) => id)
  const before = beforeId === undefined ? Number.POSITIVE_INFINITY : parseId(beforeId, 'beforeId')
  const all = await withAttempts(db, await selectViewRows(db).where('d.payment_id', 'in', ids).execute())
  const matches = all
    .filter((delivery) => Number(delivery.deliveryId) < before && isMatch(delivery, filter))
    .sort((a, b) => Number(b.deliveryId) - Number(a.deliveryId))
  const rows = matches.slice(0, limit)
  return { rows, next: matches.length > limit ? (rows.at(-1)?.deliveryId ?? null) : null, isCut: false }
}

export function transactionQuery(db: Connection, txHash: string) {
  return db
    .selectFrom('payments')
    .select('id')
    .where('tx_hash', '=', parseKey(txHash))
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

export function selectViewRows(db: Connection) {
  return selectFiltered(db, {}).select(viewColumns).$narrowType<{ integration: NotNull }>()
}

export function attemptsQuery(db: Connection, since: number, limit: number) {
  return db
    .selectFrom('attempts')
    .select(['delivery_id', 'number', 'started_at', 'latency_ms', 'status', 'reason'])
    .where('started_at', '>=', checkInteger(since, 'since'))
    .orderBy('started_at', 'desc')
    .limit(checkInteger(limit, 'limit', 1))
}
