/** Pages of payments across integrations: index ranges of a fixed length. Source: the port ConsoleReads. @module */
import type { ConsolePaymentFilter, ConsolePosition } from '@payment-integration/core/ports'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Connection } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { integer } from '../internal/values.js'
import type { PaymentRow } from '../schema/tables.js'

/** Payments that the statements of a page examine, where no index fits the filter: the first is often enough. */
const steps = [250, 4_750]

type Filter = ConsolePaymentFilter & { readonly before?: ConsolePosition | undefined }
type Row = Selectable<PaymentRow>

/** The rows of a page, and where the next one begins. */
export interface RowPage {
  readonly rows: readonly Row[]
  readonly next: ConsolePosition | null
  readonly isCut: boolean
}

/** Finds a page, newest first. */
export async function findPage(db: Connection, filter: Filter, limit: number): Promise<RowPage> {
  const rows: Row[] = []
  let { before } = filter
  for (const size of hasOwnIndex(filter) ? [limit + 1] : steps) {
    const part = { ...filter, before }
    rows.push(...(await pageQuery(db, part, size, limit + 1 - rows.length).execute()))
    const last = rows[limit - 1]
    if (rows.length > limit && last !== undefined)
      return { rows: rows.slice(0, limit), next: positionOf(last), isCut: false }
    if (hasOwnIndex(filter)) break
    // The last one that was examined, and whether another follows.
    const [end, following] = await keyQuery(db, part, 2, size - 1).execute()
    if (end === undefined || following === undefined) break
    before = positionOf(end)
    if (size === steps.at(-1)) return { rows, next: before, isCut: true }
  }
  return { rows, next: null, isCut: false }
}

/** Whether all rows in the order of an index match. */
const hasOwnIndex = (filter: Filter) =>
  filter.chainId === undefined && filter.invoice === undefined && !isStateExamined(filter)

/** Whether the state is compared row by row: no index has both, and most payments are successes. */
const isStateExamined = ({ state, integrationAddress }: Filter) =>
  state !== undefined && (state === null || state === 'success' || integrationAddress !== undefined)

/** Payments of a page: those that match among `size` keys. */
export function pageQuery(db: Connection, filter: Filter, size: number, limit: number) {
  const { chainId, state, invoice } = filter
  const matching = db
    .selectFrom(keyQuery(db, filter, size).as('examined'))
    .select(['block_timestamp', 'chain_id', 'tx_hash'])
    .$if(chainId !== undefined, (keys) => keys.where('chain_id', '=', chainId ?? 0))
    .$if(isStateExamined(filter) && state === null, (keys) => keys.where('state', 'is', null))
    .$if(isStateExamined(filter) && state !== null, (keys) => keys.where('state', '=', state ?? ''))
    .$if(invoice !== undefined, (keys) => keys.where(hasField('amount', invoice?.amount ?? '')))
    .$if(invoice?.currency !== undefined, (keys) => keys.where(hasField('currency', invoice?.currency ?? '')))
    .orderBy('block_timestamp', 'desc')
    .orderBy('chain_id', 'desc')
    .orderBy('tx_hash', 'desc')
    .limit(limit)
  return db
    .selectFrom(matching.as('k'))
    .innerJoin('payments as p', (join) =>
      join
        .onRef('p.chain_id', '=', 'k.chain_id')
        .onRef('p.tx_hash', '=', 'k.tx_hash')
        .on(sql<boolean>`p.is_primary = 1`),
    )
    .selectAll('p')
    .orderBy('k.block_timestamp', 'desc')
    .orderBy('k.chain_id', 'desc')
    .orderBy('k.tx_hash', 'desc')
}

/** A field of the invoice's JSON. Quotes within a value are escaped, so no value can imitate a field. */
const hasField = (name: string, value: string) =>
  sql<boolean>`replace(invoice, ${`"${name}":${JSON.stringify(value)}`}, '') <> invoice`

/**
 * Keys in the order of the index that leads with a filter. Its column is a range of one value, and leads the order.
 * With `=`, PostgreSQL may read the index of all payments instead, past any number of others.
 */
export function keyQuery(db: Connection, filter: Filter, size: number, skipped = 0) {
  const { integrationAddress } = filter
  const lead = leadOf(filter)
  const isExamined = isStateExamined(filter)
  const columns = sql`block_timestamp, chain_id, tx_hash`
  const [upper, lower] = [upperOf(filter), filter.since === undefined ? null : startOf(filter.since, 'since')]
  const bound = (position: ConsolePosition | null, sign: RawBuilder<unknown>) => {
    const values = sql`${position?.blockTimestamp ?? 0}, ${position?.chainId ?? 0}, ${position?.txHash ?? ''}`
    return lead === null
      ? sql<boolean>`(${columns}) ${sign} (${values})`
      : sql<boolean>`(${sql.ref(lead.column)}, ${columns}) ${sign} (${lead.value}, ${values})`
  }
  return (
    db
      .selectFrom('payments')
      .select(['block_timestamp', 'chain_id', 'tx_hash'])
      // Without them the index alone is read.
      .$if(isExamined, (rows) => rows.select('state'))
      .$if(filter.invoice !== undefined, (rows) => rows.select('invoice'))
      .where(sql<boolean>`is_primary = 1`)
      // The literal shows both planners that the partial index applies.
      .$if(lead?.column === 'state', (rows) => rows.where(sql<boolean>`state <> 'success'`))
      .$if(integrationAddress === null, (rows) => rows.where('integration', 'is', null))
      // One bound on each side: SQLite searches by the first that it finds.
      .$if(upper !== null, (rows) => rows.where(bound(upper, sql`<`)))
      .$if(lower !== null, (rows) => rows.where(bound(lower, sql`>=`)))
      .$if(lead !== null && upper === null, (rows) => rows.where(lead?.column ?? 'state', '<=', lead?.value ?? ''))
      .$if(lead !== null && lower === null, (rows) => rows.where(lead?.column ?? 'state', '>=', lead?.value ?? ''))
      .$if(lead !== null, (rows) => rows.orderBy(lead?.column ?? 'state', 'desc'))
      .$if(integrationAddress === null, (rows) => rows.orderBy('integration', 'desc'))
      .orderBy('block_timestamp', 'desc')
      .orderBy('chain_id', 'desc')
      .orderBy('tx_hash', 'desc')
      .limit(size)
      .offset(skipped)
  )
}

/** The filter by a column that leads an index. */
function leadOf({ state, integrationAddress }: Filter) {
  if (typeof integrationAddress === 'string') return { column: 'integration', value: integrationAddress } as const
  if (integrationAddress === null || state === undefined || state === null || state === 'success') return null
  return { column: 'state', value: state } as const
}

/** The position that a page lies below. */
function upperOf({ before, until }: Filter): ConsolePosition | null {
  if (until === undefined || (before !== undefined && before.blockTimestamp < until)) return before ?? null
  return startOf(until, 'until')
}

/** Before every payment of a time. */
const startOf = (time: number, name: string): ConsolePosition => ({
  blockTimestamp: checkInteger(time, name),
  chainId: 0,
  txHash: '',
})

const positionOf = (key: Pick<Row, 'block_timestamp' | 'chain_id' | 'tx_hash'>): ConsolePosition => ({
  blockTimestamp: integer(key.block_timestamp),
  chainId: integer(key.chain_id),
  txHash: key.tx_hash,
})
