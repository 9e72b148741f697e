/** The directory: which shard has a payment, and which an update. Source: docs/decisions/shards.md. @module */
import type { MovedPaymentKey } from '@payment-integration/core/ports'
import type { BulkColumn, Connection, SqlDialect } from '../engine.js'
import { bulk } from '../internal/bulk.js'
import { hexOf, isHex } from '../internal/hex.js'
import { run, runPrepared } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import { keyOf } from '../payments/upsert-payments.js'
import type { Integer } from '../schema/integer.js'
import { byShard, type ShardMap } from './shard-map.js'

/** The tables of each shard in one transaction, or for reads outside of any. */
export type ShardTables = (shard: number) => { readonly db: Connection; readonly dialect: SqlDialect }

/** A payment and its shard. */
export interface PlacedPayment extends MovedPaymentKey {
  readonly shard: number
}

interface PaymentShard {
  readonly chain_id: Integer
  readonly ordinal: Integer
  readonly shard: Integer
  readonly tx_hash: Uint8Array | string
}

const placed = (row: PaymentShard): PlacedPayment => ({
  chainId: integer(row.chain_id),
  txHash: hexOf(row.tx_hash),
  ordinal: integer(row.ordinal),
  shard: integer(row.shard),
})

/** All payments of some transactions. */
export async function findPayments(
  map: ShardMap,
  tables: ShardTables,
  txHashes: readonly string[],
): Promise<PlacedPayment[]> {
  const found: PlacedPayment[] = []
  const distinct = [...new Set(txHashes)].filter(isHex)
  for (const [shard, hashes] of byShard(distinct, map.ofTransaction)) {
    const { db, dialect } = tables(shard)
    const rows = await runPrepared<PaymentShard>(
      db,
      dialect,
      (parameter) => `select d.chain_id, d.tx_hash, d.ordinal, d.shard from ${dialect.name('payment_shards')} d
        where ${dialect.oneOf('d.tx_hash', 'hex', hashes, parameter)}`,
    )
    found.push(...rows.map(placed))
  }
  return found
}

const paymentColumns: readonly BulkColumn[] = [
  { name: 'chain_id', type: 'integer' },
  { name: 'tx_hash', type: 'hex' },
  { name: 'ordinal', type: 'integer' },
  { name: 'shard', type: 'integer' },
]
const paymentNames = paymentColumns.map(({ name }) => name).join(', ')

/**
 * Enters payments, but for those that it has. Resolves the shard of each by {@link keyOf}: an entered payment stays
 * where it is.
 */
export async function placePayments(
  map: ShardMap,
  tables: ShardTables,
  payments: readonly PlacedPayment[],
): Promise<Map<string, number>> {
  const shards = new Map(payments.map((payment) => [keyOf(payment), payment.shard]))
  for (const [shard, own] of byShard(payments, ({ txHash }) => map.ofTransaction(txHash))) {
    const { db, dialect } = tables(shard)
    const rows = [...new Map(own.map((payment) => [keyOf(payment), payment])).values()]
    const inserted = await bulk(
      db,
      dialect,
      paymentColumns,
      rows.map((payment) => [payment.chainId, payment.txHash, payment.ordinal, payment.shard]),
      (source) => `with v (${paymentNames}) as (${source})
        insert into ${dialect.name('payment_shards')} (${paymentNames}) select ${paymentNames} from v where true
        on conflict (tx_hash, chain_id, ordinal) do nothing returning ordinal`,
    )
    if (inserted.length === rows.length) continue
    const known = await findPayments(
      map,
      tables,
      rows.map(({ txHash }) => txHash),
    )
    for (const each of known) if (shards.has(keyOf(each))) shards.set(keyOf(each), each.shard)
  }
  return shards
}

/**
 * The shards of updates, by id; unknown ids are left out.
 * @param options.locks - Whether their rows are locked until the transaction ends. @default false
 */
export async function findUpdateShards(
  map: ShardMap,
  tables: ShardTables,
  ids: readonly string[],
  { locks = false }: { readonly locks?: boolean } = {},
): Promise<Map<string, number>> {
  const shards = new Map<string, number>()
  for (const [shard, own] of byShard(ids, map.ofUpdate)) {
    const { db, dialect } = tables(shard)
    const rows = await runPrepared<{ id: string; shard: Integer }>(
      db,
      dialect,
      (parameter) => `select u.id, u.shard from ${dialect.name('update_shards')} u
        where ${dialect.oneOf('u.id', 'text', own, parameter)}
        order by u.id${locks ? dialect.lockRows('u') : ''}`,
    )
    for (const row of rows) shards.set(row.id, integer(row.shard))
  }
  return shards
}

const updateColumns: readonly BulkColumn[] = [
  { name: 'id', type: 'text' },
  { name: 'shard', type: 'integer' },
]

/**
 * Enters updates with their shards.
 * @param options.moves - Whether those that it has move to the given shard; else they stay, and are left out.
 * @returns The ids that were entered or moved.
 */
export async function placeUpdates(
  map: ShardMap,
  tables: ShardTables,
  updates: ReadonlyMap<string, number>,
  { moves }: { readonly moves: boolean },
): Promise<ReadonlySet<string>> {
  const entered = new Set<string>()
  const conflict = moves ? 'update set shard = excluded.shard' : 'nothing'
  for (const [shard, own] of byShard([...updates], ([id]) => map.ofUpdate(id))) {
    const { db, dialect } = tables(shard)
    const rows = await bulk<{ id: string }>(
      db,
      dialect,
      updateColumns,
      own,
      (source) => `with v (id, shard) as (${source})
        insert into ${dialect.name('update_shards')} (id, shard) select id, shard from v where true
        on conflict (id) do ${conflict} returning id`,
    )
    for (const { id } of rows) entered.add(id)
  }
  return entered
}

/** Forgets updates whose history ended. */
export async function forgetUpdates(map: ShardMap, tables: ShardTables, ids: readonly string[]): Promise<void> {
  for (const [shard, own] of byShard(ids, map.ofUpdate)) {
    const { db, dialect } = tables(shard)
    await run(
      db,
      dialect,
      (parameter) =>
        `delete from ${dialect.name('update_shards')} where ${dialect.oneOf('id', 'text', own, parameter)}`,
    )
  }
}
