/** The types of the directory's rows, which only the shards of a database have. @module */
import type { Integer } from './integer.js'

/** The shard of a payment, by its key. */
export interface PaymentShardRow {
  chain_id: Integer
  ordinal: Integer
  shard: Integer
  tx_hash: Uint8Array
}

/** The shard of an update, by its id. */
export interface UpdateShardRow {
  shard: Integer
  id: string
}
