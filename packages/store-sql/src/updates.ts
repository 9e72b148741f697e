/** Stores every processor update under its id. Source: docs/decisions/processor-updates.md. @module */
import type { ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import type { StoredUpdate } from '@payment-integration/core/ports'
import { type Selectable, sql } from 'kysely'
import type { BulkColumn, Connection, SqlDialect } from './engine.js'
import { bulk } from './internal/bulk.js'
import { runPrepared } from './internal/statement.js'
import { integer, nullableInteger, pack, unpack } from './internal/values.js'
import type { Integer } from './schema/integer.js'
import type { UpdateRow } from './schema/tables.js'

type StoredColumns = Pick<Selectable<UpdateRow>, 'body' | 'outcome' | 'reason' | 'version'>
/** The columns that {@link storedUpdate} reads. */
export const storedColumns = ['body', 'outcome', 'reason', 'version'] as const

/** The update of a row. */
export function storedUpdate(row: StoredColumns): StoredUpdate {
  return {
    update: unpack<ProcessorUpdate>(row.body),
    outcome: row.outcome as UpdateOutcome,
    reason: unpack<string>(row.reason),
    version: nullableInteger(row.version),
  }
}

/** The updates stored under some ids. */
export async function findUpdates(
  db: Connection,
  dialect: SqlDialect,
  updateIds: readonly string[],
): Promise<StoredUpdate[]> {
  const rows = await runPrepared<StoredColumns>(
    db,
    dialect,
    (parameter) =>
      `select u.body, u.outcome, u.reason, u.version from ${dialect.name('updates')} u
       where ${dialect.oneOf('u.id', 'text', updateIds, parameter)}`,
  )
  return rows.map(storedUpdate)
}

const insertColumns: readonly BulkColumn[] = [
  { name: 'id', type: 'text' },
  { name: 'chain_id', type: 'integer' },
  { name: 'tx_hash', type: 'text' },
  { name: 'body', type: 'text' },
  { name: 'outcome', type: 'text' },
  { name: 'reason', type: 'text' },
  { name: 'version', type: 'integer' },
]
const insertNames = insertColumns.map(({ name }) => name).join(', ')

/** Stores updates in their order, but for those whose id is taken; resolves the ids of the others. */
export async function insertUpdates(
  db: Connection,
  dialect: SqlDialect,
  updates: readonly StoredUpdate[],
): Promise<string[]> {
  const inserted = await bulk<{ id: string }>(
    db,
    dialect,
    insertColumns,
    updates.map(({ update, outcome, reason, version }) => [
      update.id,
      Number(update.chainId),
      update.txHash,
      pack(update),
      outcome,
      pack(reason),
      version,
    ]),
    (source) =>
      `with v (${insertNames}) as (${source})
       insert into ${dialect.name('updates')} (${insertNames}) select ${insertNames} from v where true
       on conflict (id) do nothing returning id`,
  )
  return inserted.map(({ id }) => id)
}

const keyColumns: readonly BulkColumn[] = [
  { name: 'chain_id', type: 'integer' },
  { name: 'tx_hash', type: 'text' },
]

/** Waiting updates of any of these transactions, in the order they were received. */
export async function waitingUpdates(
  db: Connection,
  dialect: SqlDialect,
  keys: readonly { chainId: number; txHash: string }[],
): Promise<StoredUpdate[]> {
  // Usually no update waits, and a range may have 50,000 keys.
  const any = await db.selectFrom('updates').select('seq').where('outcome', '=', sql.lit('waiting')).limit(1).execute()
  if (any.length === 0) return []
  const distinct = new Map(keys.map(({ chainId, txHash }) => [`${chainId}:${txHash}`, [chainId, txHash]]))
  const rows = await bulk<StoredColumns & { seq: Integer }>(
    db,
    dialect,
    keyColumns,
    [...distinct.values()],
    (source) =>
      `with v (chain_id, tx_hash) as (${source})
       select u.seq, u.body, u.outcome, u.reason, u.version from v
       join ${dialect.name('updates')} as u on u.chain_id = v.chain_id and u.tx_hash = v.tx_hash
       where u.outcome = 'waiting'`,
  )
  return rows.sort((a, b) => integer(a.seq) - integer(b.seq)).map(storedUpdate)
}

/**
 * Stores the outcome of a waiting update.
 * @throws RangeError When no update waits under this id.
 */
export async function settleUpdate(
  db: Connection,
  updateId: string,
  result: Pick<StoredUpdate, 'outcome' | 'reason' | 'version'>,
): Promise<void> {
  const settled = await db
    .updateTable('updates')
    .set({ outcome: result.outcome, reason: pack(result.reason), version: result.version })
    .where('id', '=', updateId)
    .where('outcome', '=', 'waiting')
    .returning('seq')
    .executeTakeFirst()
  if (settled === undefined) throw new RangeError(`No update ${updateId} is waiting; nothing was recorded.`)
}
