/** Lists deliveries for operators, and finds missing ones. See docs/decisions/retries.md. @module */
import type {
  AttemptRecord,
  DeliveryFilter,
  DeliveryStore,
  DeliveryView,
  ExaminedVersions,
} from '@payment-integration/core/internal'
import { expressionBuilder, type NotNull, type RawBuilder, sql } from 'kysely'
import type { Connection } from '../engine.js'
import { listColumns, run, type StatementText } from '../internal/statements.js'
import { checkInteger, pack, parseId, parseKey, toHex, toNullableNumber, toNumber, unpack } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'

export const attemptColumns = listColumns({
  delivery_id: 'integer',
  number: 'integer',
  started_at: 'integer',
  latency_ms: 'real',
  status: 'integer',
  reason: 'text',
  excerpt: 'text',
  replay: 'integer',
})

export function toAttemptValues(id: number, number: number, attempt: AttemptRecord): unknown[] {
  const { startedAt, latencyMs, status, reason, excerpt, replay } = attempt
  return [id, number, startedAt, latencyMs, status, pack(reason), pack(excerpt), replay ? 1 : 0]
}

export function toAttemptRecord(row: Tables['attempts']): AttemptRecord {
  return {
    startedAt: toNumber(row.started_at),
    latencyMs: row.latency_ms,
    status: toNullableNumber(row.status),
    reason: unpack<string>(row.reason),
    excerpt: unpack<string>(row.excerpt),
    replay: toNumber(row.replay) === 1,
  }
}

/** The lowest id of a version created at or after a time, else the next id. Ids ascend with time. */
export async function findFirstIdAt(db: Connection, time: number): Promise<number> {
  const row = await firstIdQuery(db, checkInteger(time, 'time')).executeTakeFirst()
  return toNumber(row?.low ?? 1)
}

/** Concurrent transactions may get ids in another order than their times, but only within this time. */
const slackMs = 60_000

/** Adds to a filter the range of ids that contains all versions from its `since` to its `until`. */
export async function withIdRange<Filter extends RangeFilter>(db: Connection, filter: Filter): Promise<Filter> {
  const since = checkInteger(filter.since ?? 0, 'since')
  const until = checkInteger(filter.until ?? Number.MAX_SAFE_INTEGER, 'until')
  const [from, to] = [since - slackMs, until + slackMs]
  const after = from <= 0 ? 0 : (await findFirstIdAt(db, from)) - 1
  const upTo = to > Number.MAX_SAFE_INTEGER ? null : (await findFirstIdAt(db, to)) - 1
  return {
    ...filter,
    afterId: String(Math.max(after, filter.afterId === undefined ? 0 : parseId(filter.afterId, 'afterId'))),
    ...(upTo === null
      ? {}
      : { upToId: String(Math.min(upTo, filter.upToId === undefined ? upTo : parseId(filter.upToId, 'upToId'))) }),
  }
}

/** The statement of {@link findFirstIdAt}: a bisection in the database, which saves a round trip per step. */
export function firstIdQuery(db: Connection, time: number) {
  const middle = sql<Integer>`(low + high) / 2`
  const created = sql`(select s.created_at from ${sql.table('snapshots')} as s
    where s.id >= (low + high) / 2 order by s.id limit 1)`
  const isLate = sql<boolean>`coalesce(${created}, ${time}) >= ${time}`
  return db
    .withRecursive('ids(low, high)', (query) =>
      query
        .selectFrom('snapshots')
        .select([sql<Integer>`cast(1 as bigint)`.as('low'), sql<Integer>`coalesce(max(id), 0) + 1`.as('high')])
        .unionAll(
          query
            .selectFrom('ids')
            .select([
              sql<Integer>`case when ${isLate} then low else ${middle} + 1 end`.as('low'),
              sql<Integer>`case when ${isLate} then ${middle} else high end`.as('high'),
            ])
            .where(sql<boolean>`low < high`),
        ),
    )
    .selectFrom('ids')
    .select('low')
    .where(sql<boolean>`low >= high`)
}

const { selectFrom } = expressionBuilder<Tables>()

/** The lowest id of a delivery whose history may still change, because its segment is not closed. */
const lowestOpen = selectFrom('segments as closed')
  .select(({ fn }) => fn.coalesce(fn.max('closed.first_delivery'), sql.lit(0)).as('lowest'))
  .where('closed.closes', '=', sql.lit(1))

/** Whether the segment of a delivery is closed, so that its attempts may be archived. */
const isClosed = (id: string): RawBuilder<boolean> => sql`${sql.ref(id)} < ${lowestOpen}`

/**
 * A condition for deliveries that are neither pending, exhausted nor superseded: true for delivered ones, false for
 * missing ones. It is a scalar subquery, because for `exists` PostgreSQL may hash the attempts of all deliveries.
 */
export function isDelivered(id: string): RawBuilder<boolean> {
  const success = selectFrom('attempts as success')
    .select('success.number')
    .where('success.delivery_id', '=', sql.ref<Integer>(id))
    .where('success.reason', 'is', null)
    .limit(sql.lit(1))
  return sql`(${isClosed(id)} or ${success} is not null)`
}

export async function findMissing(
  read: Connection,
  { beforeId, limit }: { readonly beforeId?: string | undefined; readonly limit: number },
): Promise<ExaminedVersions> {
  const before = beforeId === undefined ? Number.MAX_SAFE_INTEGER : parseId(beforeId, 'beforeId')
  const row = await missingQuery(read, before, checkInteger(limit, 'limit', 1)).executeTakeFirstOrThrow()
  const lowest = toNullableNumber(row.lowest)
  return {
    examined: toNumber(row.examined),
    missing: toNumber(row.missing),
    lowestId: lowest === null ? null : String(lowest),
  }
}

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

interface RangeFilter extends DeliveryFilter {
  readonly deliveryId?: string | undefined
  readonly afterId?: string | undefined
  readonly upToId?: string | undefined
}

/**
 * The id column that orders the listing. Pending deliveries are few, so they are read in the order of the outbox;
 * SQLite does not infer that both ids are equal.
 */
export const chooseIdColumn = ({ status }: DeliveryFilter) => (status === 'pending' ? 'q.id' : 'd.id')

/** Selects deliveries `d`, payments `p` and, while pending, outbox rows `q`. A malformed `deliveryId` matches none. */
export function selectFiltered(db: Connection, filter: RangeFilter) {
  const { integrationAddress, chainId, txHash, status } = filter
  const after = filter.afterId === undefined ? 0 : parseId(filter.afterId, 'afterId')
  const upTo = filter.upToId === undefined ? null : parseId(filter.upToId, 'upToId')
  const id =
    filter.deliveryId === undefined ? null : Number(/^[0-9]{1,15}$/.test(filter.deliveryId) ? filter.deliveryId : 0)
  const since = filter.since === undefined ? null : checkInteger(filter.since, 'since')
  const until = filter.until === undefined ? null : checkInteger(filter.until, 'until')
  const hasSince = since !== null && since > 0
  return (
    db
      .selectFrom('snapshots as d')
      .leftJoin('outbox as q', 'q.id', 'd.id')
      .innerJoin('payments as p', 'p.id', 'd.payment_id')
      // Pending deliveries always have an integration. For them the condition is left out, because it would lead SQLite
      // to start from the snapshots.
      .$if(status !== 'pending', (rows) => rows.where('d.integration', 'is not', null))
      .where(chooseIdColumn(filter), '>', after)
      .$if(upTo !== null, (rows) => rows.where(chooseIdColumn(filter), '<=', upTo ?? 0))
      .$if(id !== null, (rows) => rows.where(chooseIdColumn(filter), '=', id ?? 0))
      // Only primary payments are notified; the condition lets planners use the index of hashes.
      .$if(txHash !== undefined, (rows) =>
        rows.where('p.tx_hash', '=', parseKey(txHash ?? '0x')).where(sql<boolean>`p.is_primary = 1`),
      )
      .$if(chainId !== undefined, (rows) => rows.where('p.chain_id', '=', chainId ?? 0))
      .$if(integrationAddress !== undefined, (rows) =>
        rows.where('d.integration', '=', parseKey(integrationAddress ?? '')),
      )
      .$if(status === 'pending', (rows) => rows.where('q.id', 'is not', null))
      .$if(status === 'delivered' || status === 'missing', (rows) =>
        rows
          .where('q.id', 'is', null)
          .where('d.undelivered', 'is', null)
          .where(status === 'delivered' ? isDelivered('d.id') : sql<boolean>`not ${isDelivered('d.id')}`),
      )
      .$if(status === 'exhausted' || status === 'superseded', (rows) =>
        // `is not null` lets planners use the partial index of undelivered deliveries.
        rows.where('d.undelivered', '=', status ?? '').where('d.undelivered', 'is not', null),
      )
      .$if(hasSince, (rows) => rows.where('d.created_at', '>=', since ?? 0))
      .$if(until !== null, (rows) => rows.where('d.created_at', '<', until ?? 0))
  )
}

export function createDeliveryLists(db: Connection): Pick<DeliveryStore, 'list' | 'find' | 'newestId' | 'count'> {
  return {
    list: async (query) => withAttempts(db, await listQuery(db, await withIdRange(db, query)).execute()),
    async find(deliveryId) {
      const [view] = await withAttempts(db, await listQuery(db, { deliveryId, limit: 1 }).execute())
      return view ?? null
    },
    async newestId(filter) {
      const row = await newestQuery(db, await withIdRange(db, filter)).executeTakeFirst()
      return row === undefined ? null : String(row.id)
    },
    async count(filter, { atMost } = {}) {
      if (atMost !== undefined) checkInteger(atMost, 'atMost', 1)
      const row = await countQuery(db, await withIdRange(db, filter), atMost).executeTakeFirst()
      return toNumber(row?.deliveries ?? 0)
    },
  }
}

export function newestQuery(db: Connection, filter: DeliveryFilter) {
  return selectFiltered(db, filter).select('d.id').orderBy(chooseIdColumn(filter), 'desc').limit(1)
}

export function countQuery(db: Connection, filter: DeliveryFilter, atMost?: number) {
  const matches = selectFiltered(db, filter).select('d.id')
  const counted = atMost === undefined ? matches : matches.limit(atMost)
  return db.selectFrom(counted.as('matches')).select(sql<Integer>`count(*)`.as('deliveries'))
}

const closed = sql<Integer>`case when ${isClosed('d.id')} then 1 else 0 end`.as('closed')

export const viewColumns = [
  'd.id',
  'd.integration',
  'd.version',
  'd.undelivered',
  'q.due_at',
  'd.created_at',
  'p.chain_id',
  'p.tx_hash',
  closed,
] as const

export function listQuery(db: Connection, query: RangeFilter & { readonly limit: number }) {
  return selectFiltered(db, query)
    .select(viewColumns)
    .$narrowType<{ integration: NotNull }>()
    .orderBy(chooseIdColumn(query))
    .limit(checkInteger(query.limit, 'limit', 1))
}

type ListRow = Awaited<ReturnType<ReturnType<typeof listQuery>['execute']>>[number]

export async function withAttempts(db: Connection, deliveries: readonly ListRow[]): Promise<DeliveryView[]> {
  if (deliveries.length === 0) return []
  const { name, oneOf } = db.dialect
  const ids = deliveries.map(({ id }) => toNumber(id))
  const text: StatementText = (parameter) => `select * from ${name('attempts')}
    where ${oneOf('delivery_id', 'integer', ids, parameter)} order by delivery_id, number`
  const attempts = await run<Tables['attempts']>(db, text)
  const byDelivery = new Map<number, AttemptRecord[]>(deliveries.map(({ id }) => [toNumber(id), []]))
  for (const row of attempts) byDelivery.get(toNumber(row.delivery_id))?.push(toAttemptRecord(row))
  return deliveries.map((row): DeliveryView => {
    const id = toNumber(row.id)
    return {
      deliveryId: String(id),
      integrationAddress: toHex(row.integration),
      chainId: toNumber(row.chain_id),
      txHash: toHex(row.tx_hash),
      version: toNumber(row.version),
      status: deriveStatus(row, byDelivery.get(id) ?? []),
      createdAt: toNumber(row.created_at),
      attempts: byDelivery.get(id) ?? [],
      nextAttemptAt: toNullableNumber(row.due_at),
    }
  })
}

function deriveStatus(row: ListRow, attempts: readonly AttemptRecord[]): DeliveryView['status'] {
  if (row.due_at !== null) return 'pending'
  if (row.undelivered !== null) return row.undelivered as 'exhausted' | 'superseded'
  return toNumber(row.closed) === 1 || attempts.some(({ reason }) => reason === null) ? 'delivered' : 'missing'
}
