/** Reads payments, updates, the newest rows and counts by the minute for the console. @module */
import type { PaymentState } from '@payment-integration/contract'
import type {
  AttemptKind,
  ConsoleReads,
  ConsoleSearch,
  CountQuery,
  MinuteCounts,
} from '@payment-integration/core/internal'
import { sumDecimals } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { checkInteger, parseId, parseKey, toNumber } from '../internal/values.js'
import { createReadPage } from '../payments/integration-payments.js'
import { paymentColumns, toStoredPayment, unpackInvoice } from '../payments/payment-row.js'
import { consoleColumns, toConsoleUpdate } from '../payments/updates.js'
import type { Integer } from '../schema/migration.js'
import { findPage, hasMemo, readPaymentsOfWallet } from './payment-keys.js'

/** The most rows of an answer, and ids of a statement. */
export const maxRows = 1_000
/** Integrations among which a wallet is searched. */
const maxIntegrations = 1_000

type PaymentReads = Pick<
  ConsoleReads,
  | 'payments'
  | 'search'
  | 'paymentsById'
  | 'updates'
  | 'newest'
  | 'attemptsPerMinute'
  | 'paymentsPerMinute'
  | 'volumePerMinute'
>

export function createConsolePaymentReads(engine: Engine): PaymentReads {
  const { read: db } = engine
  const readPage = createReadPage(engine)
  return {
    async payments({ limit, ...filter }) {
      const page = await findPage(db, filter, checkInteger(limit, 'limit', 1, maxRows))
      return { ...page, rows: page.rows.map(toStoredPayment) }
    },
    async search(search, limit) {
      checkInteger(limit, 'limit', 1, maxRows)
      if (search.kind === 'wallet') {
        const { wallet, integrationAddress } = search
        if (integrationAddress === undefined)
          return readPaymentsOfWallet(db, readPage, { wallet, integrations: maxIntegrations, limit })
        return [...(await readPage({ wallet, integrationAddress, limit })).payments]
      }
      const rows = await searchQuery(db, search, limit).execute()
      const ids = rows.map(({ id }) => Number(id))
      return readByIds(db, ids)
    },
    paymentsById(ids) {
      const keys = checkIds(ids).map((id) => parseId(id, 'paymentId'))
      return readByIds(db, keys)
    },
    async updates({ paymentIds, limit }) {
      const rows = []
      // One statement per payment, so that each is read in the order of the index.
      for (const paymentId of checkIds(paymentIds)) rows.push(...(await updatesQuery(db, paymentId, limit).execute()))
      rows.sort((a, b) => toNumber(a.seq) - toNumber(b.seq))
      return rows.slice(0, limit).map(toConsoleUpdate)
    },
    async newest(limit) {
      checkInteger(limit, 'limit', 1)
      const payments = await newestPaymentsQuery(db, limit).execute()
      const deliveries = await newestDeliveriesQuery(db, limit).execute()
      const updates = await newestUpdatesQuery(db, limit).execute()
      return {
        payments: payments.map(({ id }) => String(id)),
        deliveries: deliveries.map(({ id, payment_id }) => ({ deliveryId: String(id), paymentId: String(payment_id) })),
        updates: updates.map(({ seq, payment_id }) => ({
          seq: String(seq),
          paymentId: payment_id === null ? null : String(payment_id),
        })),
      }
    },
    attemptsPerMinute: async (query) => toCounts(await attemptCountsQuery(db, query).execute(), query.limit),
    paymentsPerMinute: async (query) => toCounts(await paymentCountsQuery(db, query).execute(), query.limit),
    // The databases have no exact decimals in common, so the invoices are added here.
    async volumePerMinute(query) {
      const rows = await invoicesQuery(db, query).execute()
      const groups = new Map<string, { readonly minute: number; readonly kind: string; readonly amounts: string[] }>()
      for (const row of rows) {
        const invoice = unpackInvoice(row.invoice)
        if (invoice === null) continue
        const [minute, kind] = [toNumber(row.minute) * minuteMs, invoice.currency]
        const group = groups.get(`${minute} ${kind}`) ?? { minute, kind, amounts: [] }
        group.amounts.push(invoice.amount)
        groups.set(`${minute} ${kind}`, group)
      }
      const counts = [...groups.values()].map(({ amounts, ...group }) => ({
        ...group,
        count: amounts.length,
        amount: sumDecimals(amounts),
      }))
      return { counts: counts.sort((a, b) => a.minute - b.minute), isCut: rows.length >= query.limit }
    },
  }
}

export function checkIds(ids: readonly string[]): readonly string[] {
  checkInteger(ids.length, 'number of ids', 0, maxRows)
  return ids
}

async function readByIds(db: Connection, ids: readonly number[]): Promise<StoredPayment[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('payments')
    .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
    .select(paymentColumns)
    .where('payments.id', 'in', ids)
    .orderBy('payments.id')
    .execute()
  return rows.map(toStoredPayment)
}

export function searchQuery(db: Connection, search: Exclude<ConsoleSearch, { kind: 'wallet' }>, limit: number) {
  const ids = db.selectFrom('payments').select('id').where(sql<boolean>`is_primary = 1`).limit(limit)
  if (search.kind === 'memo') return ids.where(hasMemo(search.prefix)).orderBy('memo')
  const hash = parseKey(search.txHash)
  // A payment matches at most one of the two selections.
  const hashMatches = ids.where('tx_hash', '=', hash)
  const ofSource = ids.where('source_tx_hash', '=', hash).where(sql<boolean>`source_tx_hash <> tx_hash`)
  const half = (rows: typeof hashMatches, name: string) => db.selectFrom(rows.as(name)).select('id')
  return half(hashMatches, 'own').unionAll(half(ofSource, 'sources'))
}

export function updatesQuery(db: Connection, paymentId: string, limit: number) {
  return db
    .selectFrom('updates')
    .select('seq')
    .select(consoleColumns)
    .where('payment_id', '=', parseId(paymentId, 'paymentId'))
    .orderBy('seq')
    .limit(checkInteger(limit, 'limit', 1))
}

export function newestPaymentsQuery(db: Connection, limit: number) {
  return db.selectFrom('payments').select('id').orderBy('id', 'desc').limit(limit)
}

/** The deliveries among the newest `limit` versions: without a limit the query may read past millions of versions. */
export function newestDeliveriesQuery(db: Connection, limit: number) {
  const versions = db.selectFrom('snapshots').select(['id', 'payment_id', 'integration']).orderBy('id', 'desc')
  return db
    .selectFrom(versions.limit(limit).as('v'))
    .select(['v.id', 'v.payment_id'])
    .where('v.integration', 'is not', null)
    .orderBy('v.id', 'desc')
}

export function newestUpdatesQuery(db: Connection, limit: number) {
  return db.selectFrom('updates').select(['seq', 'payment_id']).orderBy('seq', 'desc').limit(limit)
}

const minuteMs = 60_000

/** Reasons are JSON strings. */
export function attemptCountsQuery(db: Connection, { since, limit }: CountQuery) {
  const newest = db
    .selectFrom('attempts')
    .select([selectMinute('started_at'), 'status', 'reason'])
    .where('started_at', '>=', checkInteger(since, 'since'))
    .orderBy('started_at', 'desc')
    .limit(checkInteger(limit, 'limit', 1))
  const kind = sql<AttemptKind>`case when reason is null then 'delivered' when reason = '"timeout"' then 'timeout'
    when status is null or reason = '"malformed_answer"' then 'no_answer' when status < 400 then 'redirect' when status < 500 then 'client_error'
    else 'server_error' end`
  return db
    .selectFrom(newest.as('newest'))
    .select(['minute', kind.as('kind'), count])
    .groupBy(['minute', 'kind'])
}

export function paymentCountsQuery(db: Connection, query: CountQuery) {
  // A subquery for each row: a join may read all statuses.
  const withState = db
    .selectFrom(newestMinutes(db, query).as('newest'))
    .select('minute')
    .select(({ selectFrom }) =>
      selectFrom('statuses as s').select('s.state').whereRef('s.payment_id', '=', 'newest.id').as('kind'),
    )
  return db
    .selectFrom(withState.as('counted'))
    .select(['minute', 'kind', count])
    .groupBy(['minute', 'kind'])
    .$castTo<CountRow<PaymentState | null>>()
}

const newestMinutes = (db: Connection, { since, limit }: CountQuery) =>
  db
    .selectFrom('payments')
    .select(['id', selectMinute('block_timestamp')])
    .where(sql<boolean>`is_primary = 1`)
    .where('block_timestamp', '>=', checkInteger(since, 'since'))
    .orderBy('block_timestamp', 'desc')
    .limit(checkInteger(limit, 'limit', 1))

export function invoicesQuery(db: Connection, query: CountQuery) {
  return db
    .selectFrom(newestMinutes(db, query).as('newest'))
    .select('minute')
    .select(({ selectFrom }) => {
      const status = selectFrom('statuses as s').whereRef('s.payment_id', '=', 'newest.id')
      return status.where('s.state', '=', 'success').select('s.invoice').as('invoice')
    })
}

const count = sql<Integer>`count(*)`.as('rows')
// A literal, because PostgreSQL would have to guess the type of a parameter.
const selectMinute = (column: string) => sql<Integer>`${sql.ref(column)} / ${sql.lit(minuteMs)}`.as('minute')

interface CountRow<Kind> {
  readonly minute: Integer
  readonly kind: Kind
  readonly rows: Integer
}

function toCounts<Kind>(rows: readonly CountRow<Kind>[], limit: number): MinuteCounts<Kind> {
  const counts = rows.map((row) => ({
    minute: toNumber(row.minute) * minuteMs,
    kind: row.kind,
    count: toNumber(row.rows),
  }))
  counts.sort((a, b) => a.minute - b.minute)
  return { counts, isCut: counts.reduce((sum, each) => sum + each.count, 0) >= limit }
}
