/**
 * Marks and reads payments off the chain, and reads those of a range of blocks. Source:
 * docs/decisions/reorganisations.md.
 * @module
 */
import type { StoredPayment } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection, SqlDialect } from '../engine.js'
import { bulk } from '../internal/bulk.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { hexOf, nullableHexOf } from '../internal/hex.js'
import { withStatuses } from './locked-payments.js'
import { factColumns } from './payment-row.js'

/** Marks the payments of a chain in blocks above a height as off the chain. */
export async function leaveAbove(db: Connection, chainId: number, above: number): Promise<void> {
  await db
    .updateTable('payments')
    .set({ off_chain: 1 })
    .where('chain_id', '=', chainId)
    .where('block_number', '>', above)
    .where('off_chain', '=', 0)
    .execute()
}

/** Marks payments as off the chain. */
export async function leavePayments(db: Connection, dialect: SqlDialect, paymentIds: readonly string[]): Promise<void> {
  await bulk(
    db,
    dialect,
    [{ name: 'id', type: 'integer' }],
    paymentIds.map((id) => [parseId(id, 'paymentId')]),
    (source) => `update ${dialect.name('payments')} set off_chain = 1 where id in (${source}) and off_chain = 0`,
  )
}

/** Payments of a chain that are off the chain and not dropped. */
export function offChainQuery(db: Connection, chainId: number) {
  return (
    db
      .selectFrom('payments')
      .select(['tx_hash', 'integration'])
      .where('chain_id', '=', checkInteger(chainId, 'chainId'))
      // The literal lets both planners see that the partial index applies.
      .where(sql<boolean>`off_chain = 1 and dropped is null`)
  )
}

/** The names of {@link offChainQuery}. */
export async function offChainPayments(
  db: Connection,
  chainId: number,
): Promise<Pick<StoredPayment, 'txHash' | 'integrationAddress'>[]> {
  const rows = await offChainQuery(db, chainId).execute()
  return rows.map(({ tx_hash, integration }) => ({
    txHash: hexOf(tx_hash),
    integrationAddress: nullableHexOf(integration),
  }))
}

/** Payments of a range of blocks, on the chain or off it. */
export function blocksQuery(db: Connection, chainId: number, from: number, to: number) {
  return db
    .selectFrom('payments')
    .select(factColumns)
    .where('chain_id', '=', checkInteger(chainId, 'chainId'))
    .where('block_number', '>=', checkInteger(from, 'from'))
    .where('block_number', '<=', checkInteger(to, 'to'))
    .orderBy('block_number')
    .orderBy('log_index')
    .orderBy('id')
}

/** The rows of {@link blocksQuery} as payments. */
export async function paymentsInBlocks(
  db: Connection,
  dialect: SqlDialect,
  chainId: number,
  from: number,
  to: number,
): Promise<StoredPayment[]> {
  return withStatuses(db, dialect, await blocksQuery(db, chainId, from, to).execute())
}

/** Which payments are overdue. */
export interface OverdueQuery {
  readonly chainId: number
  readonly atOrBelow: number
  readonly limit: number
  /** The same as `atOrBelow`, for payments from another chain whose deposit waits. @default `atOrBelow` */
  readonly awaitedAtOrBelow?: number | undefined
}

/** Payments off the chain that are not dropped yet, by block. */
export function overdueQuery(db: Connection, dialect: SqlDialect, query: OverdueQuery) {
  const { chainId, atOrBelow, limit, awaitedAtOrBelow = atOrBelow } = query
  return (
    db
      .selectFrom('payments')
      .select(factColumns)
      .where('chain_id', '=', checkInteger(chainId, 'chainId'))
      .where('block_number', '<=', atOrBelow)
      // The literal lets both planners see that the partial index applies.
      .where(sql<boolean>`off_chain = 1 and dropped is null`)
      .where(({ eb, or, not, exists, selectFrom }) =>
        or([
          eb('block_number', '<=', awaitedAtOrBelow),
          not(
            exists(
              selectFrom('deposits as d')
                .select('d.id')
                .whereRef('d.chain_id', '=', 'payments.source_chain_id')
                .where('d.tx_hash', '=', sql<string>`${sql.raw(dialect.hexText('payments.source_tx_hash'))}`)
                .where('d.waiting', '=', sql.lit(1))
                .whereRef('payments.source_chain_id', '<>', 'payments.chain_id'),
            ),
          ),
        ]),
      )
      .orderBy('block_number')
      .orderBy('id')
      .limit(checkInteger(limit, 'limit', 1))
  )
}

/** The rows of {@link overdueQuery} as payments, locked until the transaction ends. */
export async function overduePayments(
  db: Connection,
  dialect: SqlDialect,
  query: OverdueQuery,
): Promise<StoredPayment[]> {
  const rows = await overdueQuery(db, dialect, query).modifyEnd(dialect.forUpdate).execute()
  return withStatuses(db, dialect, rows)
}
