/** Reads payments and processor updates for the console. Source: the port ConsoleReads. @module */
import type { ConsoleReads, ConsoleSearch, StoredPayment } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { hexBytes, keyBytes } from '../internal/hex.js'
import { integer } from '../internal/values.js'
import { paymentColumns, storedPayment } from '../payments/payment-row.js'
import { createReadPage } from '../payments/read-page.js'
import { consoleColumns, consoleUpdate } from '../updates.js'
import { findPage } from './payment-keys.js'
import { paymentsOfWallet } from './wallet-search.js'

/** Most rows that are read by their ids at once. */
const mostIds = 1_000
/** Integrations among which a wallet is searched. */
const mostIntegrations = 1_000

type PaymentReads = Pick<ConsoleReads, 'payments' | 'search' | 'paymentsById' | 'updates'>

/** The reads of a database. */
export function createPaymentReads(engine: Engine): PaymentReads {
  const { read: db } = engine
  const readPage = createReadPage(engine)
  return {
    async payments({ limit, ...filter }) {
      const page = await findPage(db, filter, checkInteger(limit, 'limit', 1, mostIds))
      return { ...page, rows: page.rows.map(storedPayment) }
    },
    async search(search, limit) {
      checkInteger(limit, 'limit', 1, mostIds)
      if (search.kind === 'wallet') {
        const { wallet, integrationAddress } = search
        if (integrationAddress === undefined)
          return paymentsOfWallet(db, readPage, { wallet, integrations: mostIntegrations, limit })
        return [...(await readPage({ wallet, integrationAddress, limit })).payments]
      }
      const rows = await searchQuery(db, search, limit).execute()
      return byIds(
        db,
        rows.map(({ id }) => Number(id)),
      )
    },
    paymentsById: (ids) =>
      byIds(
        db,
        checkIds(ids).map((id) => parseId(id, 'paymentId')),
      ),
    async updates({ paymentIds, limit }) {
      const rows = []
      // One payment after the other: each is read in the order of its index.
      for (const paymentId of checkIds(paymentIds)) rows.push(...(await updatesQuery(db, paymentId, limit).execute()))
      rows.sort((a, b) => integer(a.seq) - integer(b.seq))
      return rows.slice(0, limit).map(consoleUpdate)
    },
  }
}

/** Rejects more ids than one statement reads. */
export function checkIds(ids: readonly string[]): readonly string[] {
  checkInteger(ids.length, 'number of ids', 0, mostIds)
  return ids
}

async function byIds(db: Connection, ids: readonly number[]): Promise<StoredPayment[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('payments')
    .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
    .select(paymentColumns)
    .where('payments.id', 'in', ids)
    .orderBy('payments.id')
    .execute()
  return rows.map(storedPayment)
}

/** The ids of the payments that a search by an identifier finds. */
export function searchQuery(db: Connection, search: Exclude<ConsoleSearch, { kind: 'wallet' }>, limit: number) {
  const ids = db.selectFrom('payments').select('id').where(sql<boolean>`is_primary = 1`).limit(limit)
  if (search.kind === 'memo') {
    const prefix = hexBytes(search.prefix)
    const above = firstAfter(prefix)
    return ids
      .where('memo', '>=', prefix)
      .$if(above !== null, (rows) => rows.where('memo', '<', above))
      .orderBy('memo')
  }
  const hash = keyBytes(search.txHash)
  // A payment matches one of them at most.
  const own = ids.where('tx_hash', '=', hash)
  const ofSource = ids.where('source_tx_hash', '=', hash).where(sql<boolean>`source_tx_hash <> tx_hash`)
  const half = (rows: typeof own, name: string) => db.selectFrom(rows.as(name)).select('id')
  return half(own, 'own').unionAll(half(ofSource, 'sources'))
}

/** The lowest bytes above all that begin with these; null: there are none. */
function firstAfter(prefix: Uint8Array): Uint8Array | null {
  const last = prefix.findLastIndex((byte) => byte < 0xff)
  if (last === -1) return null
  const above = Uint8Array.from(prefix.subarray(0, last + 1))
  above[last] = (above[last] ?? 0) + 1
  return above
}

/** The processor updates that were decided on a payment. */
export function updatesQuery(db: Connection, paymentId: string, limit: number) {
  return db
    .selectFrom('updates')
    .select('seq')
    .select(consoleColumns)
    .where('payment_id', '=', parseId(paymentId, 'paymentId'))
    .orderBy('seq')
    .limit(checkInteger(limit, 'limit', 1))
}
