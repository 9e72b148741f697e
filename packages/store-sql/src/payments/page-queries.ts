/**
 * Builds the statements of a page: index searches only, at any depth. Source: docs/interface.md 4.1.
 *
 * A reorganisation may move a stored payment to another block time. Later pages of a listing that began before still
 * have it at its former position. `payment_moves` has each former block time with the integration's count of moves. A
 * position carries the count at the start of its listing. The plain statement returns the present count with its rows.
 * If both counts are equal, which is nearly always so, the page is right. Else the exact statement reads the page as of
 * the position.
 *
 * @module
 */
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type { Connection } from '../engine.js'
import type { ValueOf } from '../internal/prepare.js'
import type { Integer } from '../schema/integer.js'
import type { PaymentRow, Tables } from '../schema/tables.js'
import { paymentColumns } from './payment-row.js'

/** The values of a page's statement; a shape ignores the values that it does not need. */
export interface PageValues {
  readonly integration: Uint8Array
  readonly wallet: Uint8Array
  readonly blockTimestamp: number
  readonly chainId: number
  readonly txHash: Uint8Array
  readonly asOf: number
}

/** The shape of a statement: each has one text. */
export interface PageShape {
  readonly ofWallet: boolean
  /** Whether it begins after a position. */
  readonly behind: boolean
  /** The limit; it is in the text, because the planners choose by it. */
  readonly size: number
  /** The database's type of bytes. */
  readonly bytes: RawBuilder<unknown>
}

type Side = 'sender' | 'receiver'
type Value = ValueOf<PageValues>

const keyColumns = ['id', 'block_timestamp', 'chain_id', 'tx_hash'] as const
// The literal lets both planners see that the partial indexes apply.
const primary = sql<boolean>`is_primary = 1`

/** Rows by their present block time, each with the integration's count of moves (null: none yet). */
export function plainPage(db: Connection, value: Value, shape: PageShape) {
  const count = db.selectFrom('page_epochs').select('seq').where('integration', '=', value('integration')).as('beside')
  return shape.ofWallet
    ? rowsOf(db, newestOf(db, sides(db, value, shape), shape)).select(count)
    : ownRows(db, value, shape)
        .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
        .select([...paymentColumns, count])
}

/** Rows by their block time at the position's count, with that block time. */
export function exactPage(db: Connection, value: Value, shape: PageShape) {
  const unmoved: Keys = shape.ofWallet
    ? sides(db, value, shape, true)
    : db.selectFrom(ownRows(db, value, shape, true).select(keyColumns).as('own')).select(keyColumns)
  const keys = newestOf(db, unmoved.unionAll(movedKeys(db, value, shape)), shape)
  return rowsOf(db, keys).select('keys.block_timestamp as beside')
}

type Keys = SelectQueryBuilder<Tables, never, Pick<Selectable<PaymentRow>, (typeof keyColumns)[number]>>

function newestOf(db: Connection, keys: Keys, { size }: PageShape) {
  return db
    .selectFrom(keys.as('found'))
    .select(keyColumns)
    .orderBy('block_timestamp', 'desc')
    .orderBy('chain_id', 'desc')
    .orderBy('tx_hash', 'desc')
    .limit(sql.lit(size))
}

function rowsOf(db: Connection, keys: Keys) {
  return db
    .selectFrom(keys.as('keys'))
    .innerJoin('payments', 'payments.id', 'keys.id')
    .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
    .select(paymentColumns)
    .orderBy('keys.block_timestamp', 'desc')
    .orderBy('keys.chain_id', 'desc')
    .orderBy('keys.tx_hash', 'desc')
}

// A payment to oneself is on both sides: the union returns it once.
function sides(db: Connection, value: Value, shape: PageShape, unmoved = false) {
  const side = (column: Side) =>
    db.selectFrom(sideRows(db, value, shape, column, unmoved).as(column)).select(keyColumns)
  return side('sender').union(side('receiver'))
}

function ownRows(db: Connection, value: Value, shape: PageShape, unmoved = false) {
  return ofIntegration(db, value, unmoved)
    .$if(shape.behind, (rows) =>
      rows.where(
        sql<boolean>`(payments.block_timestamp, chain_id, tx_hash) <
          (${unforeseen(sql`cast(${value('blockTimestamp')} as bigint)`)}, ${value('chainId')}, ${value('txHash')})`,
      ),
    )
    .orderBy('payments.block_timestamp', 'desc')
    .orderBy('chain_id', 'desc')
    .orderBy('tx_hash', 'desc')
    .limit(sql.lit(shape.size))
}

// The wallet is a range of one value and leads the order, so that only the index of its side fits. With `=`, PostgreSQL
// may scan all payments of the integration instead, past any number of other wallets' rows.
function sideRows(db: Connection, value: Value, shape: PageShape, column: Side, unmoved: boolean) {
  const wallet = unforeseen(sql<Uint8Array>`cast(${value('wallet')} as ${shape.bytes})`)
  const rows = ofIntegration(db, value, unmoved)
    .select(keyColumns)
    .where(column, '>=', wallet)
    .orderBy(column, 'desc')
    .orderBy('block_timestamp', 'desc')
    .orderBy('chain_id', 'desc')
    .orderBy('tx_hash', 'desc')
    .limit(sql.lit(shape.size))
  return shape.behind
    ? rows.where(
        sql<boolean>`(${sql.ref(column)}, block_timestamp, chain_id, tx_hash) <
          (${wallet}, ${value('blockTimestamp')}, ${value('chainId')}, ${value('txHash')})`,
      )
    : rows.where(column, '<=', wallet)
}

function ofIntegration(db: Connection, value: Value, unmoved: boolean) {
  return db
    .selectFrom('payments')
    .where('integration', '=', value('integration'))
    .where(primary)
    .$if(unmoved, (rows) =>
      rows.where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('payment_moves as m')
              .select('m.seq')
              .whereRef('m.payment_id', '=', 'payments.id')
              .where('m.seq', '>', value('asOf')),
          ),
        ),
      ),
    )
}

// The first later move has the block time that the payment had then.
function movedKeys(db: Connection, value: Value, { ofWallet }: PageShape) {
  const moves = db
    .selectFrom('payment_moves')
    .select(['payment_id', 'block_timestamp'])
    .select(sql<Integer>`row_number() over (partition by payment_id order by seq)`.as('nth'))
    .where('integration', '=', value('integration'))
    .where('seq', '>', value('asOf'))
  return db
    .selectFrom(moves.as('moves'))
    .innerJoin('payments', 'payments.id', 'moves.payment_id')
    .select(['payments.id', 'moves.block_timestamp', 'payments.chain_id', 'payments.tx_hash'])
    .where('moves.nth', '=', sql.lit(1))
    .where(
      sql<boolean>`(moves.block_timestamp, chain_id, tx_hash) <
        (${value('blockTimestamp')}, ${value('chainId')}, ${value('txHash')})`,
    )
    .$if(ofWallet, (rows) =>
      rows.where(({ eb, or }) => or([eb('sender', '=', value('wallet')), eb('receiver', '=', value('wallet'))])),
    )
}

// In a subquery a value is unknown to the planner. So PostgreSQL finds a plan for these values no cheaper than the
// prepared one. Else it would plan each request anew, which takes longer than reading the page.
function unforeseen<Given>(value: Given | RawBuilder<Given>): RawBuilder<Given> {
  return sql<Given>`(select ${value})`
}
