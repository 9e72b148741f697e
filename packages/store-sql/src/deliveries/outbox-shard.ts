/** The outboxes of a database: one, or one for each shard. Source: docs/decisions/shards.md. @module */
import type { Engine, ShardEngine } from '../engine.js'

/** One of them. The remainder of its ids, divided by the number of shards, is its place among them. */
export type OutboxShard = Pick<ShardEngine, 'dialect' | 'countSettled' | 'within'>

/** The only outbox of a database without shards. */
export const onlyOutbox = ({ dialect, countSettled }: Engine): OutboxShard => ({
  dialect,
  ...(countSettled === undefined ? {} : { countSettled }),
  within: (db) => db,
})
