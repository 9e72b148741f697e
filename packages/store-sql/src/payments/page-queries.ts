/** Reads pages of payments by index searches alone, at any depth. Source: docs/interface.md 4.1. @module */
import type { PaymentReads, StoredPage } from '@payment-integration/core/internal'
import type { PaymentFacts } from '@payment-integration/core/ports'
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type { BulkColumn, Connection, Engine, SqlDialect } from '../engine.js'
import { bulk, prepare, type ValueOf } from '../internal/statements.js'
import { checkInteger, hexBytes, integer, keyBytes, toHex } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { PaymentRow, Tables } from '../schema/tables.js'
import { paymentColumns, type StoredRow, toStoredPayment } from './payment-row.js'

const placeColumns: readonly BulkColumn[] = [
  { name: 'chain_id', type: 'integer' },
  { name: 'tx_hash', type: 'hex' },
  { name: 'ordinal', type: 'integer' },
  { name: 'block_timestamp', type: 'integer' },
]

const repositionColumns: readonly BulkColumn[] = [
  { name: 'payment_id', type: 'integer' },
  { name: 'seq', type: 'integer' },
  { name: 'integration', type: 'hex' },
  { name: 'block_timestamp', type: 'integer' },
]

/**
 * Stores the block times that payments of a list are about to leave, and counts one reposition for each of their
 * integrations. The count's row stays locked until the transaction ends, so counts are committed in order. A page that
 * read a count has read every reposition up to it, and none after it.
 */
export async function storeFormerPositions(
  db: Connection,
  dialect: SqlDialect,
  payments: readonly PaymentFacts[],
): Promise<void> {
  const former = await readFormerPositions(db, dialect, payments)
  if (former.length === 0) return
  const counts = await countReposition(
    db,
    dialect,
    former.map(({ integration }) => integration),
  )
  const repositions = former.map(({ id, integration, blockTimestamp }) => [
    id,
    counts.get(integration),
    integration,
    blockTimestamp,
  ])
  await bulk(
    db,
    dialect,
    repositionColumns,
    repositions,
    (source) =>
      `insert into ${dialect.name('payment_moves')} (payment_id, seq, integration, block_timestamp) ${source}`,
  )
}

async function readFormerPositions(db: Connection, dialect: SqlDialect, payments: readonly PaymentFacts[]) {
  const rows = await bulk<{ id: Integer; integration: Uint8Array; block_timestamp: Integer }>(
    db,
    dialect,
    placeColumns,
    payments.map(({ chainId, txHash, ordinal, blockTimestamp }) => [chainId, txHash, ordinal, blockTimestamp]),
    (source) =>
      `with v (chain_id, tx_hash, ordinal, block_timestamp) as (${source})
       select p.id, p.integration, p.block_timestamp from v
       join ${dialect.name('payments')} as p
         on p.chain_id = v.chain_id and p.tx_hash = v.tx_hash and p.ordinal = v.ordinal
       where p.is_primary = 1 and p.integration is not null and p.block_timestamp <> v.block_timestamp`,
  )
  return rows.map((row) => ({
    id: integer(row.id),
    integration: toHex(row.integration),
    blockTimestamp: integer(row.block_timestamp),
  }))
}

// In one order, so that two transactions never wait for each other.
async function countReposition(db: Connection, dialect: SqlDialect, integrations: readonly string[]) {
  const counted = await bulk<{ integration: Uint8Array; seq: Integer }>(
    db,
    dialect,
    [{ name: 'integration', type: 'hex' }],
    [...new Set(integrations)].sort().map((integration) => [integration]),
    (source) =>
      `with v (integration) as (${source})
       insert into ${dialect.name('page_epochs')} as e (integration, seq) select integration, 1 from v where true order by integration
       on conflict (integration) do update set seq = e.seq + 1 returning integration, seq`,
  )
  return new Map(counted.map(({ integration, seq }) => [toHex(integration), integer(seq)]))
}

// A reorganization may move a stored payment to another block time. `payment_moves` has each former block time with the
// count of repositions of its integration, and a position carries the count at the start of its listing. The plain
// statement returns the present count with its rows. If both are equal, which is nearly always so, the page is right.
// Else the exact statement reads the page as of the position.

interface PageValues {
  readonly integration: Uint8Array
  readonly wallet: Uint8Array
  readonly blockTimestamp: number
  readonly chainId: number
  readonly txHash: Uint8Array
  readonly asOf: number
}

interface PageShape {
  readonly ofWallet: boolean
  readonly behind: boolean
  /** The limit; it is in the text, because the planners choose by it. */
  readonly size: number
  readonly bytes: RawBuilder<unknown>
}

type Side = 'sender' | 'receiver'
type Value = ValueOf<PageValues>

const keyColumns = ['id', 'block_timestamp', 'chain_id', 'tx_hash'] as const
// The literal lets both planners see that the partial indexes apply.
const primary = sql<boolean>`is_primary = 1`

/** Rows by their present block time, each with the integration's count of repositions (null: none yet). */
export function plainPage(db: Connection, value: Value, shape: PageShape) {
  const count = db
    .selectFrom('page_epochs')
    .select('seq')
    .where('integration', '=', value('integration'))
    .as('page_value')
  return shape.ofWallet
    ? selectRows(db, takeNewest(db, selectSides(db, value, shape), shape)).select(count)
    : selectOwnRows(db, value, shape)
        .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
        .select([...paymentColumns, count])
}

/** Rows by their block time at the position's count, with that block time. */
export function exactPage(db: Connection, value: Value, shape: PageShape) {
  const unmoved: Keys = shape.ofWallet
    ? selectSides(db, value, shape, true)
    : db.selectFrom(selectOwnRows(db, value, shape, true).select(keyColumns).as('own')).select(keyColumns)
  const keys = takeNewest(db, unmoved.unionAll(selectRepositionedKeys(db, value, shape)), shape)
  return selectRows(db, keys).select('keys.block_timestamp as page_value')
}

type Keys = SelectQueryBuilder<Tables, never, Pick<Selectable<PaymentRow>, (typeof keyColumns)[number]>>

function takeNewest(db: Connection, keys: Keys, { size }: PageShape) {
  return db
    .selectFrom(keys.as('found'))
    .select(keyColumns)
    .orderBy('block_timestamp', 'desc')
    .orderBy('chain_id', 'desc')
    .orderBy('tx_hash', 'desc')
    .limit(sql.lit(size))
}

function selectRows(db: Connection, keys: Keys) {
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
function selectSides(db: Connection, value: Value, shape: PageShape, unmoved = false) {
  const side = (column: Side) =>
    db.selectFrom(selectSideRows(db, value, shape, column, unmoved).as(column)).select(keyColumns)
  return side('sender').union(side('receiver'))
}

function selectOwnRows(db: Connection, value: Value, shape: PageShape, unmoved = false) {
  return selectOfIntegration(db, value, unmoved)
    .$if(shape.behind, (rows) =>
      rows.where(
        sql<boolean>`(payments.block_timestamp, chain_id, tx_hash) <
          (${hideFromPlanner(sql`cast(${value('blockTimestamp')} as bigint)`)}, ${value('chainId')}, ${value('txHash')})`,
      ),
    )
    .orderBy('payments.block_timestamp', 'desc')
    .orderBy('chain_id', 'desc')
    .orderBy('tx_hash', 'desc')
    .limit(sql.lit(shape.size))
}

// The wallet is a range of one value and leads the order, so that only the index of its side fits. With `=`, PostgreSQL
// may scan all payments of the integration instead, past any number of other wallets' rows.
function selectSideRows(db: Connection, value: Value, shape: PageShape, column: Side, unmoved: boolean) {
  const wallet = hideFromPlanner(sql<Uint8Array>`cast(${value('wallet')} as ${shape.bytes})`)
  const rows = selectOfIntegration(db, value, unmoved)
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

function selectOfIntegration(db: Connection, value: Value, unmoved: boolean) {
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

// The first later reposition has the block time that the payment had then.
function selectRepositionedKeys(db: Connection, value: Value, { ofWallet }: PageShape) {
  const repositions = db
    .selectFrom('payment_moves')
    .select(['payment_id', 'block_timestamp'])
    .select(sql<Integer>`row_number() over (partition by payment_id order by seq)`.as('nth'))
    .where('integration', '=', value('integration'))
    .where('seq', '>', value('asOf'))
  return db
    .selectFrom(repositions.as('repositions'))
    .innerJoin('payments', 'payments.id', 'repositions.payment_id')
    .select(['payments.id', 'repositions.block_timestamp', 'payments.chain_id', 'payments.tx_hash'])
    .where('repositions.nth', '=', sql.lit(1))
    .where(
      sql<boolean>`(repositions.block_timestamp, chain_id, tx_hash) <
        (${value('blockTimestamp')}, ${value('chainId')}, ${value('txHash')})`,
    )
    .$if(ofWallet, (rows) =>
      rows.where(({ eb, or }) => or([eb('sender', '=', value('wallet')), eb('receiver', '=', value('wallet'))])),
    )
}

// In a subquery a value is unknown to the planner. So PostgreSQL finds a plan for these values no cheaper than the
// prepared one. Else it would plan each request anew, which takes longer than reading the page.
function hideFromPlanner<Given>(value: Given | RawBuilder<Given>): RawBuilder<Given> {
  return sql<Given>`(select ${value})`
}

/** Limits of statements. A page of another size reads more rows than it needs, so that there are few texts. */
const sizes = [11, 51, 101, 201]
const chooseSize = (rows: number) => sizes.find((size) => size >= rows) ?? 2 ** Math.ceil(Math.log2(rows))

type Shape = Omit<PageShape, 'bytes'>
type Row = StoredRow & { readonly page_value: Integer | null }

export function createReadPage(engine: Pick<Engine, 'read' | 'rows' | 'dialect'>): PaymentReads['list'] {
  const { read: db, dialect } = engine
  const bytes = sql.raw(dialect.types.bytes)
  const plain = cacheStatements((shape) =>
    prepare<PageValues, Row>(engine, (value) => plainPage(db, value, { ...shape, bytes })),
  )
  // The number of repositions since a position decides between two statements.
  const exact = cacheStatements((shape) =>
    prepare<PageValues, Row>(engine, (value) => exactPage(db, value, { ...shape, bytes }), false),
  )

  return async (query) => {
    const limit = checkInteger(query.limit, 'limit', 1)
    const { integrationAddress, wallet, after } = query
    // One more row shows whether another page follows.
    const shape = { ofWallet: wallet !== undefined, behind: after !== undefined, size: chooseSize(limit + 1) }
    const values = {
      integration: keyBytes(integrationAddress),
      wallet: keyBytes(wallet ?? '0x'),
      blockTimestamp: after?.blockTimestamp ?? 0,
      chainId: after?.chainId ?? 0,
      txHash: hexBytes(after?.txHash ?? '0x'),
      asOf: after?.asOf ?? 0,
    }
    const rows = await plain(shape)(values)
    const [first] = rows
    const asOf = first === undefined ? undefined : integer(first.page_value ?? 0)
    if (after === undefined) return page(rows, limit, asOf ?? 0, presentTime)
    // Without a row the count is unknown.
    if (asOf === after.asOf) return page(rows, limit, after.asOf, presentTime)
    return page(await exact(shape)(values), limit, after.asOf, formerTime)
  }
}

const presentTime = (row: Row) => row.block_timestamp
const formerTime = (row: Row) => row.page_value ?? row.block_timestamp

function page(rows: readonly Row[], limit: number, asOf: number, timeOf: (row: Row) => Integer): StoredPage {
  const pageRows = rows.slice(0, limit)
  const last = rows.length > limit ? pageRows.at(-1) : undefined
  return {
    payments: pageRows.map(toStoredPayment),
    next:
      last === undefined
        ? null
        : { blockTimestamp: integer(timeOf(last)), chainId: integer(last.chain_id), txHash: toHex(last.tx_hash), asOf },
  }
}

function cacheStatements<Statement>(make: (shape: Shape) => Statement): (shape: Shape) => Statement {
  const made = new Map<string, Statement>()
  return (shape) => {
    const key = `${shape.ofWallet} ${shape.behind} ${shape.size}`
    const statement = made.get(key) ?? make(shape)
    made.set(key, statement)
    return statement
  }
}
