/** How far each chain is indexed: the highest stored height is the checkpoint. @module */
import type { Checkpoint } from '@payment-integration/core/ports'
import type { Connection } from './engine.js'
import { checkInteger } from './internal/checks.js'
import { integer } from './internal/values.js'
import type { CheckpointRow } from './schema/tables.js'

/** Heights kept per chain: a reorganisation deeper than this finds no common ancestor. */
export const keptCheckpoints = 1_000

const toCheckpoint = (row: Pick<CheckpointRow, 'block_number' | 'block_hash'>): Checkpoint => ({
  blockNumber: integer(row.block_number),
  blockHash: row.block_hash,
})

function newestFirst(db: Connection, chainId: number) {
  return db
    .selectFrom('checkpoints')
    .select(['block_number', 'block_hash'])
    .where('chain_id', '=', chainId)
    .orderBy('block_number', 'desc')
}

/** The checkpoint of a chain, or null. */
export async function readCheckpoint(db: Connection, chainId: number): Promise<Checkpoint | null> {
  const row = await newestFirst(db, chainId).limit(1).executeTakeFirst()
  return row === undefined ? null : toCheckpoint(row)
}

/** Stored heights at or below one, newest first. */
export async function listCheckpoints(
  db: Connection,
  chainId: number,
  atOrBelow: number,
  limit: number,
): Promise<Checkpoint[]> {
  checkInteger(limit, 'limit', 1)
  const rows = await newestFirst(db, chainId).where('block_number', '<=', atOrBelow).limit(limit).execute()
  return rows.map(toCheckpoint)
}

/** Moves the checkpoint, up or down: heights above it are forgotten, and so are all but the {@link keptCheckpoints} below. */
export async function writeCheckpoint(db: Connection, chainId: number, checkpoint: Checkpoint): Promise<void> {
  checkInteger(chainId, 'chainId')
  const blockNumber = checkInteger(checkpoint.blockNumber, 'blockNumber')
  const { blockHash } = checkpoint
  const oldest = newestFirst(db, chainId)
    .where('block_number', '<=', blockNumber)
    .clearSelect()
    .select('block_number')
    .offset(keptCheckpoints)
    .limit(1)
  await db
    .deleteFrom('checkpoints')
    .where('chain_id', '=', chainId)
    .where(({ eb, or }) => or([eb('block_number', '>', blockNumber), eb('block_number', '<=', oldest)]))
    .execute()
  await db
    .insertInto('checkpoints')
    .values({ chain_id: chainId, block_number: blockNumber, block_hash: blockHash })
    .onConflict((conflict) => conflict.columns(['chain_id', 'block_number']).doUpdateSet({ block_hash: blockHash }))
    .execute()
}
