/** Pages of payments across integrations: index ranges of a fixed length. Source: the port ConsoleReads. @module */
import type { ConsolePaymentFilter, ConsolePosition } from '@payment-integration/core/ports'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Connection } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { hexOf, keyBytes } from '../internal/hex.js'
import { integer } from '../internal/values.js'
import type { PaymentRow } from '../schema/tables.js'

/** Payments that the statements of a page examine, where no index fits the filter: the first is often enough. */
const steps = [250, 4_750]

type Filter = ConsolePaymentFilter & {
  readonly before?: ConsolePosition | undefined
  /** The last payment of the page that may match. */
  readonly end?: ConsolePosition | undefined
}
type Row = Selectable<PaymentRow>

/** The rows of a page, and where the next one begins. */
export interface RowPage {
  readonly rows: readonly Row[]
  readonly next: ConsolePosition | null
  readonly isCut: boolean
}

/** Finds a page, newest first. */
export async function findPage(db: Connection, filter: Filter, limit: number): Promise<RowPage> {
  if (hasOwnIndex(filter)) return pageOf(await pageQuery(db, filter, limit + 1, limit + 1).execute(), limit)
  const rows: Row[] = []
  let { before } = filter
  for (const size of steps) {
    const part = { ...filter, before }
    // Read first, so that payments that are added before the second statement shift no payment out of the page.
    const [last, following] = await keyQuery(db, part, 2, size - 1).execute()
    const end = last === undefined || following === undefined ? undefined : positionOf(last)
    rows.push(...(await pageQuery(db, { ...part, end }, 2 * size, limit + 1 - rows.length).execute()))
    if (rows.length > limit || end === undefined) break
    before = end
    if (size === steps.at(-1)) return { rows, next: end, isCut: true }
  }
  return pageOf(rows, limit)
}

/** The page of up to one row more than its limit. */
function pageOf(found: readonly Row[], limit: number): RowPage {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { rows, next: found.length > limit && last !== undefined ? positionOf(last) : null, isCut: false }
}

/** Whether all rows in the order of an index match. */
const hasOwnIndex = (filter: Filter) =>
  filter.chainId === undefined && filter.invoice === undefined && !isStateExamined(filter)

/** Whether the state is compared row by row: no index has both, and most payments are successes. */
const isStateExamined = ({ state, integrationAddress }: Filter) =>
  state !== undefined && (state === null || state === 'success' || integrationAddress !== undefined)

/** Payments of a page: those that match among `size` keys at most. The size keeps planners in the order of the keys. */
export function pageQuery(db: Connection, filter: Filter, size: number, limit: number) {
  const { chainId, state, invoice } = filter
  const matching = db
    .selectFrom(keyQuery(db, filter, size).as('examined'))
    .select(['block_timestamp', 'chain_id', 'tx_hash', 'id'])
    .$if(chainId !== undefined, (keys) => keys.where('chain_id', '=', chainId ?? 0))
    .$if(isStateExamined(filter) && state === null, (keys) => keys.where('state', 'is', null))
    .$if(isStateExamined(filter) && state !== null, (keys) => keys.where('state', '=', state ?? ''))
    .$if(invoice !== undefined, (keys) => keys.where(hasField('amount', invoice?.amount ?? '')))
    .$if(invoice?.currency !== undefined, (keys) => keys.where(hasField('currency', invoice?.currency ?? '')))
    .orderBy('block_timestamp', 'desc')
    .orderBy('chain_id', 'desc')
    .orderBy('tx_hash', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  return db
    .selectFrom(matching.as('k'))
    .innerJoin('payments as p', 'p.id', 'k.id')
    .selectAll('p')
    .orderBy('k.block_timestamp', 'desc')
    .orderBy('k.chain_id', 'desc')
    .orderBy('k.tx_hash', 'desc')
    .orderBy('k.id', 'desc')
}

/** A field of the invoice's JSON. Quotes within a value are escaped, so no value can imitate a field. */
const hasField = (name: string, value: string) =>
  sql<boolean>`replace(invoice, ${`"${name}":${JSON.stringify(value)}`}, '') <> invoice`

/**
 * Keys in the order of the index that leads with a filter. Its column is a range of one value, and leads the order.
 * With `=`, PostgreSQL may read the index of all payments instead, past any number of others. One integration, or none,
 * has one primary payment in a transaction: its keys are whole without ids, which its index lacks.
 */
export function keyQuery(db: Connection, filter: Filter, size: number, skipped = 0) {
  const { integrationAddress } = filter
  const lead = leadOf(filter)
  const isExamined = isStateExamined(filter)
  const hasIds = integrationAddress === undefined
  const columns = sql`block_timestamp, chain_id, tx_hash${hasIds ? sql`, id` : sql``}`
  const [upper, lower] = [upperOf(filter), lowerOf(filter)]
  const bound = (position: ConsolePosition | null, sign: RawBuilder<unknown>) => {
    const { blockTimestamp, chainId, txHash, id } = position ?? startOf(0, 'time')
    const values = sql`${blockTimestamp}, ${chainId}, ${keyBytes(txHash)}${hasIds ? sql`, ${parseId(id, 'id')}` : sql``}`
    return lead === null
      ? sql<boolean>`(${columns}) ${sign} (${values})`
      : sql<boolean>`(${sql.ref(lead.column)}, ${columns}) ${sign} (${lead.value}, ${values})`
  }
  return (
    db
      .selectFrom('payments')
      .select(['block_timestamp', 'chain_id', 'tx_hash', 'id'])
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
      .$if(hasIds, (rows) => rows.orderBy('id', 'desc'))
      .limit(size)
      .offset(skipped)
  )
}

/** The filter by a column that leads an index. */
function leadOf({ state, integrationAddress }: Filter) {
  if (typeof integrationAddress === 'string')
    return { column: 'integration', value: keyBytes(integrationAddress) } as const
  if (integrationAddress === null || state === undefined || state === null || state === 'success') return null
  return { column: 'state', value: state } as const
}

/** The position that a page lies below. */
function upperOf({ before, until }: Filter): ConsolePosition | null {
  if (until === undefined || (before !== undefined && before.blockTimestamp < until)) return before ?? null
  return startOf(until, 'until')
}

/** The position that a page begins with or after. */
const lowerOf = ({ end, since }: Filter) => end ?? (since === undefined ? null : startOf(since, 'since'))

/** Before every payment of a time. */
const startOf = (time: number, name: string): ConsolePosition => ({
  blockTimestamp: checkInteger(time, name),
  chainId: 0,
  txHash: '0x',
  id: '0',
})

const positionOf = (key: Pick<Row, 'block_timestamp' | 'chain_id' | 'tx_hash' | 'id'>): ConsolePosition => ({
  blockTimestamp: integer(key.block_timestamp),
  chainId: integer(key.chain_id),
  txHash: hexOf(key.tx_hash),
  id: String(key.id),
})
