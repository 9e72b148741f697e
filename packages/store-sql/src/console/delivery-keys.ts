/** Pages of deliveries: index ranges of a fixed length. Source: the port ConsoleReads. @module */
import type { DeliveryFilter } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection } from '../engine.js'
import { parseId } from '../internal/checks.js'
import { integer } from '../internal/values.js'
import { firstIdAt } from './first-id.js'

/** Deliveries that the statements of a page examine, where no index fits the filter: the first is often enough. */
const steps = [250, 1_750]

/** A filter without a transaction: deliveries of one are few. */
type Filter = Omit<DeliveryFilter, 'txHash'>

/** Ids from `low` up to before `high`. */
export interface IdRange {
  readonly low: number
  readonly high: number
}

/** The ids of a page, and where the next one begins. */
export interface IdPage {
  readonly ids: readonly number[]
  readonly next: string | null
  readonly isCut: boolean
}

/** Finds a page, newest first. Ids rise with the time, so that times select by ids. */
export async function findIds(
  db: Connection,
  filter: Filter & { readonly beforeId?: string | undefined },
  limit: number,
): Promise<IdPage> {
  const ids: number[] = []
  const low = filter.since === undefined ? 1 : await firstIdAt(db, filter.since)
  const before = filter.beforeId === undefined ? Number.MAX_SAFE_INTEGER : parseId(filter.beforeId, 'beforeId')
  let high = filter.until === undefined ? before : Math.min(before, await firstIdAt(db, filter.until))
  for (const size of hasOwnIndex(filter) ? [limit + 1] : steps) {
    const range = { low, high }
    const found = await pageQuery(db, filter, range, size, limit + 1 - ids.length).execute()
    ids.push(...found.map(({ id }) => integer(id)))
    if (ids.length > limit) return { ids: ids.slice(0, limit), next: String(ids[limit - 1]), isCut: false }
    if (hasOwnIndex(filter)) break
    // The last one that was examined, and whether another follows.
    const [end, following] = await keyQuery(db, filter, range, 2, size - 1).execute()
    if (end === undefined || following === undefined) break
    high = integer(end.id)
    if (size === steps.at(-1)) return { ids, next: String(high), isCut: true }
  }
  return { ids, next: null, isCut: false }
}

/** Whether all rows in the order of an index match. */
const hasOwnIndex = ({ chainId, status, integrationAddress, since, until }: Filter) =>
  chainId === undefined &&
  status !== 'delivered' &&
  (status === undefined || integrationAddress === undefined) &&
  since === undefined &&
  until === undefined

/** Ids of a page: those that match among `size` keys. A subquery per key bounds the cost for every planner. */
export function pageQuery(db: Connection, filter: Filter, range: IdRange, size: number, limit: number) {
  const { status, chainId, integrationAddress, since, until } = filter
  const keys = db.selectFrom(keyQuery(db, filter, range, size).as('k')).select('k.id')
  return (
    keys
      .$if(integrationAddress !== undefined, (rows) => rows.where('k.integration', '=', integrationAddress ?? ''))
      .$if(chainId !== undefined, (rows) =>
        rows.where(({ eb, selectFrom }) =>
          eb(selectFrom('payments as p').select('p.chain_id').whereRef('p.id', '=', 'k.payment_id'), '=', chainId ?? 0),
        ),
      )
      .$if(status === 'delivered', (rows) =>
        rows
          .where('k.undelivered', 'is', null)
          .where(({ eb, selectFrom }) =>
            eb(selectFrom('outbox as q').select('q.id').whereRef('q.id', '=', 'k.id'), 'is', null),
          ),
      )
      // Ids of transactions that run at once may be in another order than their times.
      .$if(since !== undefined, (rows) => rows.where(sql<boolean>`coalesce(k.created_at, 0) >= ${since}`))
      .$if(until !== undefined, (rows) => rows.where(sql<boolean>`coalesce(k.created_at, 0) < ${until}`))
      .orderBy('k.id', 'desc')
      .limit(limit)
  )
}

/** Keys in the order of the index that leads with a filter, or of the outbox. */
export function keyQuery(db: Connection, filter: Filter, range: IdRange, size: number, skipped = 0) {
  const { low, high } = range
  if (filter.status === 'pending')
    return db
      .selectFrom('outbox')
      .select(['id', 'payment_id', 'integration', 'created_at', sql<string | null>`null`.as('undelivered')])
      .where('id', '>=', low)
      .where('id', '<', high)
      .orderBy('id', 'desc')
      .limit(size)
      .offset(skipped)
  const lead = leadOf(filter)
  const rows = db
    .selectFrom('deliveries')
    .select(['id', 'payment_id', 'integration', 'created_at', 'undelivered'])
    .limit(size)
    .offset(skipped)
  if (lead === null) return rows.where('id', '>=', low).where('id', '<', high).orderBy('id', 'desc')
  // PostgreSQL searches by the pairs, and only the index of the filter has their order. With `=` it may read all ids
  // instead, past any number of others. SQLite searches by the columns: it uses no pair with an id.
  return rows
    .$if(lead.column === 'undelivered', (all) => all.where('undelivered', 'is not', null))
    .where(lead.column, 'is not distinct from', lead.value)
    .where('id', '>=', low)
    .where('id', '<', high)
    .where(sql<boolean>`(${sql.ref(lead.column)}, id) >= (${lead.value}, ${low})`)
    .where(sql<boolean>`(${sql.ref(lead.column)}, id) < (${lead.value}, ${high})`)
    .orderBy(lead.column, 'desc')
    .orderBy('id', 'desc')
}

/** The filter by a column that leads an index. */
function leadOf({ status, integrationAddress }: Filter) {
  if (status === 'exhausted' || status === 'superseded') return { column: 'undelivered', value: status } as const
  return integrationAddress === undefined ? null : ({ column: 'integration', value: integrationAddress } as const)
}
