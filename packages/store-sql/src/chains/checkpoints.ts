/** Stores indexed heights, the highest of which is a chain's checkpoint, and leases. @module */
import type { Checkpoint, LeaseStore } from '@payment-integration/core/internal'
import { sql } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { listColumns, runBulk } from '../internal/statements.js'
import { checkInteger, pack, toNullableNumber, toNumber, unpack } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'
import { forgetProofs } from './proofs.js'

/** The longest lease of any configuration, in milliseconds. A longer one was taken while a clock was ahead. */
const maxLeaseMs = 600_000
/** How far a clock may step back during a lease, in milliseconds. */
const clockStepMs = 60_000

/** Leases in a table. Each call is one statement, so that only one of several concurrent callers wins. */
export function createLeaseStore({ transaction, read, dialect }: Engine): LeaseStore {
  const table = () => sql.raw(dialect.name('leases'))
  return {
    async acquire({ name, holder, ttlMs }) {
      const end = sql<number>`${dialect.now()} + ${checkInteger(ttlMs, 'ttlMs', 1)}`
      const latest = sql<number>`${dialect.now()} + ${Math.max(ttlMs, maxLeaseMs) + clockStepMs}`
      // A lease that ends in this millisecond has ended.
      const acquired = sql`insert into ${table()} as l (name, holder, expires_at) values (${pack(name)}, ${pack(holder)}, ${end})
        on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
        where l.holder = excluded.holder or l.expires_at <= ${dialect.now()} or l.expires_at > ${latest}
        returning name`
      return transaction(async (db) => (await acquired.execute(db)).rows.length > 0)
    },
    async release({ name, holder }) {
      const released = sql`delete from ${table()} where name = ${pack(name)} and holder = ${pack(holder)}`
      await transaction((db) => released.execute(db))
    },
    async list() {
      type Row = { readonly name: string; readonly holder: string; readonly ends_in_ms: Integer }
      const { rows } = await sql<Row>`select name, holder, expires_at - ${dialect.now()} as ends_in_ms from ${table()}
        order by name`.execute(read)
      return rows.map(({ name, holder, ends_in_ms }) => ({
        name: unpack<string>(name),
        holder: unpack<string>(holder),
        endsInMs: toNumber(ends_in_ms),
      }))
    },
  }
}

/** Heights below the checkpoint that all stay stored. */
export const denseHeights = 2_048
/** Farther below, one of this many consecutive heights stays. */
export const sparseStep = 1_024
/** Below this depth no height stays. */
export const maxStoredDepth = 2 ** 20
/** Heights between two clean-ups. */
const pruneEvery = 512

const toCheckpoint = (row: Pick<Tables['checkpoints'], 'block_number' | 'block_hash'>): Checkpoint => ({
  blockNumber: toNumber(row.block_number),
  blockHash: row.block_hash,
})

function selectNewestFirst(db: Connection, chainId: number) {
  return db
    .selectFrom('checkpoints')
    .select(['block_number', 'block_hash'])
    .where('chain_id', '=', chainId)
    .orderBy('block_number', 'desc')
}

export async function readCheckpoint(db: Connection, chainId: number): Promise<Checkpoint | null> {
  return (await readTip(db, chainId))?.checkpoint ?? null
}

/** A checkpoint, and the height from which a reorg moved it down: null once the checkpoint is that high again. */
export interface Tip {
  readonly checkpoint: Checkpoint
  readonly reached: number | null
}

export async function readTip(db: Connection, chainId: number): Promise<Tip | null> {
  const row = await selectNewestFirst(db, chainId).select('reached').limit(1).executeTakeFirst()
  return row === undefined ? null : { checkpoint: toCheckpoint(row), reached: toNullableNumber(row.reached) }
}

export async function setReached(db: Connection, chainId: number, at: number, reached: number | null): Promise<void> {
  await db
    .updateTable('checkpoints')
    .set({ reached })
    .where('chain_id', '=', chainId)
    .where('block_number', '=', at)
    .execute()
}

export async function listCheckpoints(
  db: Connection,
  chainId: number,
  atOrBelow: number,
  limit: number,
): Promise<Checkpoint[]> {
  checkInteger(limit, 'limit', 1)
  const rows = await selectNewestFirst(db, chainId).where('block_number', '<=', atOrBelow).limit(limit).execute()
  return rows.map(toCheckpoint)
}

export async function listIndexedChains(db: Connection): Promise<number[]> {
  const rows = await db.selectFrom('checkpoints').select('chain_id').distinct().execute()
  return rows.map(({ chain_id }) => toNumber(chain_id))
}

const columns = listColumns({ chain_id: 'integer', block_number: 'integer', block_hash: 'text' })

/** Stores a checkpoint, and deletes the heights above it with their proofs. RangeError if heights do not ascend. */
export async function writeCheckpoint(
  db: Connection,
  chainId: number,
  tip: Tip | null,
  to: Checkpoint,
  below: readonly Checkpoint[],
): Promise<Tip> {
  checkInteger(chainId, 'chainId')
  const { blockNumber } = to
  const from = tip?.checkpoint.blockNumber ?? null
  const rows = [...below, to].map((each) => [chainId, checkInteger(each.blockNumber, 'blockNumber'), each.blockHash])
  for (let index = 1; index < rows.length; index += 1)
    if (Number(rows[index - 1]?.[1]) >= Number(rows[index]?.[1]))
      throw new RangeError(`The heights up to ${blockNumber} do not ascend; pass each below the next one.`)
  if (from !== null && from > blockNumber) {
    await db.deleteFrom('checkpoints').where('chain_id', '=', chainId).where('block_number', '>', blockNumber).execute()
    await forgetProofs(db, chainId, blockNumber)
  }
  const text = () =>
    `insert into ${db.dialect.name('checkpoints')} (chain_id, block_number, block_hash) select * from v where true
     on conflict (chain_id, block_number) do update set block_hash = excluded.block_hash`
  await runBulk(db, columns, rows, text)
  if (from !== null) await prune(db, chainId, { from, to: blockNumber })
  return { checkpoint: to, reached: await carryReached(db, chainId, tip, blockNumber) }
}

/** Keeps the former height while the checkpoint climbs to it, and deletes it when the checkpoint moves down. */
async function carryReached(db: Connection, chainId: number, tip: Tip | null, to: number): Promise<number | null> {
  if (tip === null) return null
  const { checkpoint, reached } = tip
  if (to > checkpoint.blockNumber) {
    if (reached === null || reached <= to) return null
    await setReached(db, chainId, to, reached)
    return reached
  }
  if (to === checkpoint.blockNumber) return reached
  // The row may still have an older former height.
  await setReached(db, chainId, to, null)
  return null
}

/** Thins out the heights that left the dense ones since the last clean-up. */
async function prune(db: Connection, chainId: number, { from, to }: { from: number; to: number }): Promise<void> {
  const pruned = from - (from % pruneEvery)
  if (to < pruned + pruneEvery) return
  const table = sql.raw(db.dialect.name('checkpoints'))
  // Of each group of `sparseStep` heights the highest stored one stays. The checkpoint has passed the whole group,
  // because a group is shorter than the dense heights.
  await sql`delete from ${table} as c
    where c.chain_id = ${chainId} and c.block_number > ${pruned - denseHeights} and c.block_number <= ${to - denseHeights}
      and exists (select 1 from ${table} as n where n.chain_id = c.chain_id and n.block_number > c.block_number
        and n.block_number < (c.block_number / ${sql.lit(sparseStep)} + 1) * ${sql.lit(sparseStep)})`.execute(db)
  await sql`delete from ${table} where chain_id = ${chainId} and block_number <= ${to - maxStoredDepth}`.execute(db)
}
