/** Reads the payments of one integration: by hash, and in pages at any depth. Source: docs/interface.md 4.1. @module */
import type { PaymentReads, StoredPage } from '@payment-integration/core/internal'
import type { PaymentFacts } from '@payment-integration/core/ports'
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { listColumns, prepare, runBulk, type ValueOf } from '../internal/statements.js'
import { checkInteger, parseHex, parseKey, toHex, toNumber } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'
import { paymentColumns, type StoredRow, toStoredPayment, type WithExtra } from './payment-row.js'

const positionColumns = listColumns({
  chain_id: 'integer',
  tx_hash: 'hex',
  ordinal: 'integer',
  block_timestamp: 'integer',
})

const repositionColumns = listColumns({
  payment_id: 'integer',
  seq: 'integer',
  integration: 'hex',
  block_timestamp: 'integer',
})

/**
 * Stores the former block times of payments that get another one, and counts one reposition per integration. The
 * count's row stays locked until the transaction ends, so a page that reads a count sees exactly the repositions up to
 * it.
 */
export async function storeFormerPositions(db: Connection, payments: readonly PaymentFacts[]): Promise<void> {
  const values = payments.map((facts) => [facts.chainId, facts.txHash, facts.ordinal, facts.blockTimestamp])
  const findText = () =>
    `select p.id, p.integration, p.block_timestamp from v
     join ${db.dialect.name('payments')} as p
       on p.chain_id = v.chain_id and p.tx_hash = v.tx_hash and p.ordinal = v.ordinal
     where p.is_primary = 1 and p.integration is not null and p.block_timestamp <> v.block_timestamp`
  type Former = { id: Integer; integration: Uint8Array; block_timestamp: Integer }
  const former = await runBulk<Former>(db, positionColumns, values, findText)
  if (former.length === 0) return
  const counts = await countReposition(
    db,
    former.map(({ integration }) => toHex(integration)),
  )
  const repositions = former.map((row) => {
    const integration = toHex(row.integration)
    return [toNumber(row.id), counts.get(integration), integration, toNumber(row.block_timestamp)]
  })
  const insertText = () => `insert into ${db.dialect.name('payment_repositions')}
    (payment_id, seq, integration, block_timestamp) select * from v`
  await runBulk(db, repositionColumns, repositions, insertText)
}

// Sorted, so that two transactions cannot deadlock.
async function countReposition(db: Connection, integrations: readonly string[]) {
  const columns = listColumns({ integration: 'hex' })
  const values = [...new Set(integrations)].sort().map((integration) => [integration])
  const text = () =>
    `insert into ${db.dialect.name('page_epochs')} as e (integration, seq) select integration, 1 from v where true order by integration
     on conflict (integration) do update set seq = e.seq + 1 returning integration, seq`
  const counted = await runBulk<Tables['page_epochs']>(db, columns, values, text)
  return new Map(counted.map(({ integration, seq }) => [toHex(integration), toNumber(seq)]))
}

// A reorg may reposition a payment within a listing. `payment_repositions` has each former block time with the
// integration's count of repositions, and a cursor contains the count at the start of its listing. If the count is
// unchanged, as nearly always, the plain statement is right; else the exact one reads the page as of the cursor.

interface PageValues {
  readonly integration: Uint8Array
  readonly wallet: Uint8Array
  readonly blockTimestamp: number
  readonly chainId: number
  readonly txHash: Uint8Array
  readonly asOf: number
}

interface PageShape {
  readonly isOfWallet: boolean
  readonly isAfterCursor: boolean
  /** The limit, as a literal, because planners depend on it. */
  readonly size: number
  readonly bytes: RawBuilder<unknown>
}

type Side = 'sender' | 'receiver'
type Value = ValueOf<PageValues>

const keyColumns = ['id', 'block_timestamp', 'chain_id', 'tx_hash'] as const
// As a literal, so that planners see that partial indexes apply.
const primary = sql<boolean>`is_primary = 1`

/** Rows by present block time. The extra column is the integration's count of repositions, null before the first. */
export function selectPlainPage(db: Connection, value: Value, shape: PageShape) {
  const count = db.selectFrom('page_epochs').select('seq').where('integration', '=', value('integration')).as('extra')
  return shape.isOfWallet
    ? selectRows(db, selectNewestOfKeys(db, selectSides(db, value, shape), shape)).select(count)
    : selectNewestOfIntegration(db, value, shape)
        .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
        .select([...paymentColumns, count])
}

/** Rows by the block time that they had at the cursor's count. The extra column is this block time. */
export function selectExactPage(db: Connection, value: Value, shape: PageShape) {
  const presentKeys: Keys = shape.isOfWallet
    ? selectSides(db, value, shape, true)
    : db.selectFrom(selectNewestOfIntegration(db, value, shape, true).select(keyColumns).as('own')).select(keyColumns)
  const keys = selectNewestOfKeys(db, presentKeys.unionAll(selectRepositionedKeys(db, value, shape)), shape)
  return selectRows(db, keys).select('keys.block_timestamp as extra')
}

type Keys = SelectQueryBuilder<Tables, never, Pick<Selectable<Tables['payments']>, (typeof keyColumns)[number]>>

function selectNewestOfKeys(db: Connection, keys: Keys, { size }: PageShape) {
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

// The union returns a payment to oneself once.
function selectSides(db: Connection, value: Value, shape: PageShape, excludesMoved = false) {
  const side = (column: Side) =>
    db.selectFrom(selectNewestOfSide(db, value, shape, column, excludesMoved).as(column)).select(keyColumns)
  return side('sender').union(side('receiver'))
}

function selectNewestOfIntegration(db: Connection, value: Value, shape: PageShape, excludesMoved = false) {
  return selectOfIntegration(db, value, excludesMoved)
    .$if(shape.isAfterCursor, (rows) =>
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

// The wallet is compared as a range of one value and leads the order, so that only the index by sender or receiver
// fits. With `=`, PostgreSQL may scan all payments of the integration instead.
function selectNewestOfSide(db: Connection, value: Value, shape: PageShape, column: Side, excludesMoved: boolean) {
  const wallet = hideFromPlanner(sql<Uint8Array>`cast(${value('wallet')} as ${shape.bytes})`)
  const rows = selectOfIntegration(db, value, excludesMoved)
    .select(keyColumns)
    .where(column, '>=', wallet)
    .orderBy(column, 'desc')
    .orderBy('block_timestamp', 'desc')
    .orderBy('chain_id', 'desc')
    .orderBy('tx_hash', 'desc')
    .limit(sql.lit(shape.size))
  return shape.isAfterCursor
    ? rows.where(
        sql<boolean>`(${sql.ref(column)}, block_timestamp, chain_id, tx_hash) <
          (${wallet}, ${value('blockTimestamp')}, ${value('chainId')}, ${value('txHash')})`,
      )
    : rows.where(column, '<=', wallet)
}

/** `excludesMoved`: leaves out the payments that were repositioned after the cursor. */
function selectOfIntegration(db: Connection, value: Value, excludesMoved: boolean) {
  return db
    .selectFrom('payments')
    .where('integration', '=', value('integration'))
    .where(primary)
    .$if(excludesMoved, (rows) =>
      rows.where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('payment_repositions as r')
              .select('r.seq')
              .whereRef('r.payment_id', '=', 'payments.id')
              .where('r.seq', '>', value('asOf')),
          ),
        ),
      ),
    )
}

// The first reposition after the cursor has the block time that the payment had at the cursor.
function selectRepositionedKeys(db: Connection, value: Value, { isOfWallet }: PageShape) {
  const repositions = db
    .selectFrom('payment_repositions')
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
    .$if(isOfWallet, (rows) =>
      rows.where(({ eb, or }) => or([eb('sender', '=', value('wallet')), eb('receiver', '=', value('wallet'))])),
    )
}

// The planner does not know the value of a subquery, so PostgreSQL keeps the generic plan. Otherwise it would plan each
// request for the values, which takes longer than reading the page.
function hideFromPlanner<Given>(value: Given | RawBuilder<Given>): RawBuilder<Given> {
  return sql<Given>`(select ${value})`
}

/** Limits of statements: few, so that there are few prepared statements. Other pages read more rows than needed. */
const sizes = [11, 51, 101, 201]
const chooseSize = (rows: number) => sizes.find((size) => size >= rows) ?? 2 ** Math.ceil(Math.log2(rows))

type Shape = Omit<PageShape, 'bytes'>
type Row = WithExtra<StoredRow>

export function createReadPage(engine: Pick<Engine, 'read' | 'rows'>): PaymentReads['list'] {
  const { read: db } = engine
  const bytes = sql.raw(db.dialect.types.bytes)
  const plain = cacheStatements((shape) =>
    prepare<PageValues, Row>(engine, (value) => selectPlainPage(db, value, { ...shape, bytes })),
  )
  // Planned at each run: the right plan depends on the number of repositions.
  const exact = cacheStatements((shape) =>
    prepare<PageValues, Row>(engine, (value) => selectExactPage(db, value, { ...shape, bytes }), false),
  )

  return async (query) => {
    const limit = checkInteger(query.limit, 'limit', 1)
    const { integrationAddress, wallet, after } = query
    // One more row shows whether another page follows.
    const shape = { isOfWallet: wallet !== undefined, isAfterCursor: after !== undefined, size: chooseSize(limit + 1) }
    const values = {
      integration: parseKey(integrationAddress),
      wallet: parseKey(wallet ?? '0x'),
      blockTimestamp: after?.blockTimestamp ?? 0,
      chainId: after?.chainId ?? 0,
      txHash: parseHex(after?.txHash ?? '0x'),
      asOf: after?.asOf ?? 0,
    }
    const rows = await plain(shape)(values)
    const [first] = rows
    // The extra column of a plain page is the count of repositions.
    const asOf = first === undefined ? undefined : toNumber(first.extra ?? 0)
    if (after === undefined) return toPage(rows, limit, asOf ?? 0, readPresentTime)
    // If there is no row, the count is unknown, so the exact statement runs.
    if (asOf === after.asOf) return toPage(rows, limit, after.asOf, readPresentTime)
    return toPage(await exact(shape)(values), limit, after.asOf, readFormerTime)
  }
}

const readPresentTime = ({ block_timestamp }: Row) => block_timestamp
/** The extra column of {@link selectExactPage}. */
const readFormerTime = ({ extra, block_timestamp }: Row) => extra ?? block_timestamp

function toPage(rows: readonly Row[], limit: number, asOf: number, getTime: (row: Row) => Integer): StoredPage {
  const pageRows = rows.slice(0, limit)
  const last = rows.length > limit ? pageRows.at(-1) : undefined
  const payments = pageRows.map(toStoredPayment)
  if (last === undefined) return { payments, next: null }
  const [blockTimestamp, chainId] = [toNumber(getTime(last)), toNumber(last.chain_id)]
  return { payments, next: { blockTimestamp, chainId, txHash: toHex(last.tx_hash), asOf } }
}

function cacheStatements<Statement>(make: (shape: Shape) => Statement): (shape: Shape) => Statement {
  const cache = new Map<string, Statement>()
  return (shape) => {
    const key = `${shape.isOfWallet} ${shape.isAfterCursor} ${shape.size}`
    const statement = cache.get(key) ?? make(shape)
    cache.set(key, statement)
    return statement
  }
}

export interface HashValues {
  readonly integration: Uint8Array
  readonly txHash: Uint8Array
  readonly wallet: Uint8Array
}

/** At most two payments, because the second shows that the hash is ambiguous. */
export function selectByHashOfIntegration(db: Connection, value: ValueOf<HashValues>, isOfWallet = false) {
  return (
    db
      .selectFrom('payments')
      .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
      .select(paymentColumns)
      .select(sql<null>`null`.as('extra'))
      .where('tx_hash', '=', value('txHash'))
      .where('integration', '=', value('integration'))
      // Hides the condition: a plan made for an empty table may use a partial index of one integration's rows.
      .where(sql<boolean>`coalesce(is_primary, 0) = 1`)
      .$if(isOfWallet, (query) =>
        query.where(({ eb, or }) => or([eb('sender', '=', value('wallet')), eb('receiver', '=', value('wallet'))])),
      )
      .orderBy('chain_id')
      .limit(sql.lit(2))
  )
}
