/** Stores every processor update under its id. Source: docs/decisions/processor-updates.md. @module */
import type { ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import type { StoredUpdate } from '@payment-integration/core/ports'
import { type Selectable, sql } from 'kysely'
import type { BulkColumn, Connection, SqlDialect } from './engine.js'
import { bulk } from './internal/bulk.js'
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

/** The update stored under an id, or null. */
export async function findUpdate(db: Connection, updateId: string): Promise<StoredUpdate | null> {
  const row = await db.selectFrom('updates').select(storedColumns).where('id', '=', updateId).executeTakeFirst()
  return row === undefined ? null : storedUpdate(row)
}

/** Stores an update; false when its id is taken. */
export async function insertUpdate(db: Connection, stored: StoredUpdate): Promise<boolean> {
  const { update, outcome, reason, version } = stored
  const inserted = await db
    .insertInto('updates')
    .values({
      id: update.id,
      chain_id: Number(update.chainId),
      tx_hash: update.txHash,
      body: pack(update),
      outcome,
      reason: pack(reason),
      version,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('seq')
    .executeTakeFirst()
  return inserted !== undefined
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
