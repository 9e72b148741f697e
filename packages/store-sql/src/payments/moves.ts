/** Stores former positions of payments, for listings that began earlier. Source: the port's `list`. @module */
import type { PaymentFacts } from '@payment-integration/core/ports'
import type { BulkColumn, Connection, SqlDialect } from '../engine.js'
import { bulk } from '../internal/bulk.js'
import { hexOf } from '../internal/hex.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'

const placeColumns: readonly BulkColumn[] = [
  { name: 'chain_id', type: 'integer' },
  { name: 'tx_hash', type: 'hex' },
  { name: 'ordinal', type: 'integer' },
  { name: 'block_timestamp', type: 'integer' },
]

const moveColumns: readonly BulkColumn[] = [
  { name: 'payment_id', type: 'integer' },
  { name: 'seq', type: 'integer' },
  { name: 'integration', type: 'hex' },
  { name: 'block_timestamp', type: 'integer' },
]

/**
 * Stores the block times that payments of a list are about to leave, and counts one move for each of their
 * integrations. The count's row stays locked until the transaction ends, so counts are committed in order. A page that
 * read a count has read every move up to it, and none after it.
 */
export async function keepPlaces(
  db: Connection,
  dialect: SqlDialect,
  payments: readonly PaymentFacts[],
): Promise<void> {
  const left = await leftPlaces(db, dialect, payments)
  if (left.length === 0) return
  const counts = await countMove(
    db,
    dialect,
    left.map(({ integration }) => integration),
  )
  const moves = left.map(({ id, integration, blockTimestamp }) => [
    id,
    counts.get(integration),
    integration,
    blockTimestamp,
  ])
  await bulk(
    db,
    dialect,
    moveColumns,
    moves,
    (source) =>
      `insert into ${dialect.name('payment_moves')} (payment_id, seq, integration, block_timestamp) ${source}`,
  )
}

async function leftPlaces(db: Connection, dialect: SqlDialect, payments: readonly PaymentFacts[]) {
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
    integration: hexOf(row.integration),
    blockTimestamp: integer(row.block_timestamp),
  }))
}

// In one order, so that two transactions never wait for each other.
async function countMove(db: Connection, dialect: SqlDialect, integrations: readonly string[]) {
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
  return new Map(counted.map(({ integration, seq }) => [hexOf(integration), integer(seq)]))
}
