/** Finds payments across integrations by index searches of limited length. Source: the port ConsoleReads. @module */
import type {
  ConsolePage,
  ConsolePaymentFilter,
  ConsolePosition,
  PagePosition,
  PaymentReads,
} from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection } from '../engine.js'
import { checkInteger, parseHex, parseId, parseKey, toHex, toNullableNumber, toNumber } from '../internal/values.js'
import { factColumns, formatInvoicePrefix, type StoredRow, selectStatuses } from '../payments/payment-row.js'
import type { Integer } from '../schema/migration.js'

/** Payments that the first and the second statement of a page examine, where no index fits the filter. */
const examinedPerStatement = [250, 4_750]

type Filter = ConsolePaymentFilter & {
  readonly before?: ConsolePosition | undefined
  /** The lowest position of the page, included. */
  readonly end?: ConsolePosition | undefined
}

type RowPage = ConsolePage<StoredRow, ConsolePosition>

export async function findPage(db: Connection, filter: Filter, limit: number): Promise<RowPage> {
  if (hasOwnIndex(filter)) return toPage(await pageQuery(db, filter, limit + 1, limit + 1).execute(), limit)
  const rows: StoredRow[] = []
  let { before } = filter
  for (const size of examinedPerStatement) {
    const part = { ...filter, before }
    // The end is read first, so that payments inserted in between do not shift others out of the page.
    const [last, following] = await keyQuery(db, part, 2, size - 1).execute()
    const end = last === undefined || following === undefined ? undefined : toPosition(last)
    rows.push(...(await pageQuery(db, { ...part, end }, 2 * size, limit + 1 - rows.length).execute()))
    if (rows.length > limit || end === undefined) break
    before = end
    if (size === examinedPerStatement.at(-1)) return { rows, next: end, isCut: true }
  }
  return toPage(rows, limit)
}

function toPage(matches: readonly StoredRow[], limit: number): RowPage {
  const rows = matches.slice(0, limit)
  const last = rows.at(-1)
  return { rows, next: matches.length > limit && last !== undefined ? toPosition(last) : null, isCut: false }
}

const hasOwnIndex = (filter: Filter) =>
  filter.chainId === undefined && filter.invoice === undefined && filter.memo === undefined && !isStateExamined(filter)

/** Whether the state is compared row by row: no index has integration and state, and none has null or `success`. */
const isStateExamined = ({ state, integrationAddress }: Filter) =>
  state !== undefined && (state === null || state === 'success' || integrationAddress !== undefined)

/**
 * Selects the matching payments among at most `size` keys. That limit keeps planners on the index of the keys, and a
 * subquery per key limits the cost of any plan.
 */
export function pageQuery(db: Connection, filter: Filter, size: number, limit: number) {
  const { chainId, state, invoice, memo } = filter
  const keys = keyQuery(db, filter, size).as('k')
  const matching = db
    .selectFrom(keys)
    .select(['k.block_timestamp', 'k.id'])
    .$if(chainId !== undefined, (rows) =>
      rows.where(({ eb, selectFrom }) =>
        eb(selectFrom('payments as p').select('p.chain_id').whereRef('p.id', '=', 'k.id'), '=', chainId ?? 0),
      ),
    )
    .$if(isStateExamined(filter), (rows) =>
      rows.where(({ eb, selectFrom }) => {
        const ofKey = selectFrom('statuses as s').select('s.state').whereRef('s.payment_id', '=', 'k.id')
        return state === null ? eb(ofKey, 'is', null) : eb(ofKey, '=', state ?? '')
      }),
    )
    .$if(invoice !== undefined, (rows) =>
      rows.where(({ eb, selectFrom }) => {
        const ofKey = selectFrom('statuses as s').whereRef('s.payment_id', '=', 'k.id')
        return eb(ofKey.select(hasInvoice(invoice?.amount ?? '', invoice?.currency).as('is_match')), '=', 1)
      }),
    )
    .$if(memo !== undefined, (rows) =>
      rows.where(({ eb, selectFrom }) => {
        const ofKey = selectFrom('payments as p').select('p.id').whereRef('p.id', '=', 'k.id')
        return eb(ofKey.where(hasMemo(memo ?? '0x')), 'is not', null)
      }),
    )
    .orderBy('k.block_timestamp', 'desc')
    .orderBy('k.id', 'desc')
    .limit(limit)
  return db
    .selectFrom(matching.as('m'))
    .innerJoin('payments', 'payments.id', 'm.id')
    .select(factColumns)
    .select(selectStatuses)
    .orderBy('m.block_timestamp', 'desc')
    .orderBy('m.id', 'desc')
    .$castTo<StoredRow>()
}

function hasInvoice(amount: string, currency: string | undefined) {
  const prefix = formatInvoicePrefix(amount, currency)
  // The database counts the length, in characters: JavaScript counts UTF-16 units.
  const isEqual = sql`substr(s.invoice, 1, length(cast(${prefix} as text))) = ${prefix}`
  return sql<number>`case when ${isEqual} then 1 else 0 end`
}

/** A memo has 32 bytes, so a memo with the prefix is at most the prefix followed by 32 times the highest byte. */
export function hasMemo(prefix: string) {
  const bytes = parseHex(prefix)
  return sql<boolean>`memo between ${bytes} and ${Uint8Array.from([...bytes, ...Array(32).fill(0xff)])}`
}

interface Key {
  readonly id: Integer
  readonly block_timestamp: Integer
}

/** Selects keys in the order of the index that fits the filter. */
export function keyQuery(db: Connection, filter: Filter, size: number, skipped = 0) {
  const { integrationAddress, state } = filter
  if (integrationAddress === undefined && state !== undefined && state !== null && state !== 'success')
    return selectStateKeys(db, filter, state).limit(size).offset(skipped)
  return selectPaymentKeys(db, filter).limit(size).offset(skipped)
}

/**
 * The integration is compared as a range of one value and leads the order: with `=`, PostgreSQL may scan the index of
 * all payments instead.
 */
function selectPaymentKeys(db: Connection, filter: Filter) {
  const { integrationAddress } = filter
  const lead = typeof integrationAddress === 'string' ? parseKey(integrationAddress) : null
  const [upper, lower] = [findUpper(filter), findLower(filter)]
  const columns = sql`block_timestamp, id`
  const values = ({ blockTimestamp, id }: ConsolePosition) => sql`${blockTimestamp}, ${parseId(id, 'id')}`
  // PostgreSQL estimates row comparisons by the index's first column; `id`, which the index lacks, would mislead it.
  const led = (sign: '<=' | '>=', { blockTimestamp }: ConsolePosition) =>
    sql<boolean>`(integration, block_timestamp) ${sql.raw(sign)} (${lead}, ${blockTimestamp})`
  return (
    db
      .selectFrom('payments')
      .select(['id', 'block_timestamp'])
      .where(sql<boolean>`is_primary = 1`)
      .$if(integrationAddress === null, (rows) => rows.where('integration', 'is', null))
      // One bound on each side: SQLite uses only the first for its search.
      .$if(lead !== null && upper !== null, (rows) => rows.where(led('<=', upper ?? unused)))
      .$if(lead !== null && lower !== null, (rows) => rows.where(led('>=', lower ?? unused)))
      .$if(upper !== null, (rows) => rows.where(sql<boolean>`(${columns}) < (${values(upper ?? unused)})`))
      .$if(lower !== null, (rows) => rows.where(sql<boolean>`(${columns}) >= (${values(lower ?? unused)})`))
      .$if(lead !== null && upper === null, (rows) => rows.where('integration', '<=', lead))
      .$if(lead !== null && lower === null, (rows) => rows.where('integration', '>=', lead))
      .$if(integrationAddress !== undefined, (rows) => rows.orderBy('integration', 'desc'))
      .orderBy('block_timestamp', 'desc')
      .orderBy('id', 'desc')
      .$castTo<Key>()
  )
}

/** Only primary payments have a status, so the index by state needs no other condition. */
function selectStateKeys(db: Connection, filter: Filter, state: string) {
  const [upper, lower] = [findUpper(filter), findLower(filter)]
  const columns = sql`state, block_timestamp, payment_id`
  const values = ({ blockTimestamp, id }: ConsolePosition) => sql`${state}, ${blockTimestamp}, ${parseId(id, 'id')}`
  return (
    db
      .selectFrom('statuses')
      .select(['payment_id as id', 'block_timestamp'])
      // As a literal, so that planners see that the partial index applies.
      .where(sql<boolean>`state <> 'success'`)
      .$if(upper !== null, (rows) => rows.where(sql<boolean>`(${columns}) < (${values(upper ?? unused)})`))
      .$if(lower !== null, (rows) => rows.where(sql<boolean>`(${columns}) >= (${values(lower ?? unused)})`))
      .$if(upper === null, (rows) => rows.where('state', '<=', state))
      .$if(lower === null, (rows) => rows.where('state', '>=', state))
      .orderBy('state', 'desc')
      .orderBy('block_timestamp', 'desc')
      .orderBy('payment_id', 'desc')
      .$castTo<Key>()
  )
}

/** The position below which a page begins, newest first. */
function findUpper({ before, until }: Filter): ConsolePosition | null {
  if (until === undefined || (before !== undefined && before.blockTimestamp < until)) return before ?? null
  return toStart(until, 'until')
}

/** The lowest position of a page, included. */
const findLower = ({ end, since }: Filter) => end ?? (since === undefined ? null : toStart(since, 'since'))

/** The position before every payment with this block time. */
const toStart = (time: number, name: string): ConsolePosition => ({ blockTimestamp: checkInteger(time, name), id: '0' })
const unused = toStart(0, 'time') // Only for the compiler: the condition of each `$if` above excludes null.

const toPosition = (key: Key): ConsolePosition => ({
  blockTimestamp: toNumber(key.block_timestamp),
  id: String(key.id),
})

/** Integrations whose pages are read in parallel. */
const parallelPages = 4
const pageSize = 10

interface UnreadPayments {
  readonly integrationAddress: string
  /** Block time of the newest unread payment. */
  readonly newest: number
  readonly after?: PagePosition | undefined
}

/** Reads small pages, of the integrations with the newest payments first, until all unread payments are too old. */
export async function readPaymentsOfWallet(
  db: Connection,
  readPage: PaymentReads['list'],
  query: { readonly wallet: string; readonly integrations: number; readonly limit: number },
): Promise<StoredPayment[]> {
  const { wallet, limit } = query
  const rows = await walletQuery(db, wallet, query.integrations).execute()
  let unread = rows.flatMap(({ address, sent, received }): UnreadPayments[] => {
    const newest = Math.max(toNullableNumber(sent) ?? -1, toNullableNumber(received) ?? -1)
    return newest < 0 ? [] : [{ integrationAddress: toHex(address), newest }]
  })
  let mergedPayments: StoredPayment[] = []
  for (;;) {
    const oldest = mergedPayments[limit - 1]?.blockTimestamp ?? -1
    unread = unread.filter(({ newest }) => newest >= oldest).sort((a, b) => b.newest - a.newest)
    const part = unread.splice(0, parallelPages)
    if (part.length === 0) return mergedPayments
    const pages = await Promise.all(
      part.map(({ integrationAddress, after }) => readPage({ wallet, integrationAddress, after, limit: pageSize })),
    )
    for (const [index, { next }] of pages.entries()) {
      const { integrationAddress = '' } = part[index] ?? {}
      if (next !== null) unread.push({ integrationAddress, newest: next.blockTimestamp, after: next })
    }
    mergedPayments = [...mergedPayments, ...pages.flatMap(({ payments }) => payments)]
      .sort((a, b) => b.blockTimestamp - a.blockTimestamp)
      .slice(0, limit)
  }
}

export function walletQuery(db: Connection, address: string, integrations: number) {
  const wallet = parseKey(address)
  // A range of one value that leads the order: only the index by sender or receiver fits.
  const newest = (side: 'sender' | 'receiver') =>
    db
      .selectFrom('payments as p')
      .select('p.block_timestamp')
      .where('p.integration', '=', sql.ref<Uint8Array>('i.address'))
      .where(sql<boolean>`p.is_primary = 1`)
      .where(`p.${side}`, '>=', wallet)
      .where(`p.${side}`, '<=', wallet)
      .orderBy(`p.${side}`, 'desc')
      .orderBy('p.block_timestamp', 'desc')
      .limit(1)
  return db
    .selectFrom('integrations as i')
    .select(['i.address', newest('sender').as('sent'), newest('receiver').as('received')])
    .orderBy('i.address')
    .limit(integrations)
}
