/** Says which shard has a row. Source: docs/decisions/shards.md. @module */
import { createHash } from 'node:crypto'
import { isId } from '../internal/checks.js'
import { keyBytes } from '../internal/hex.js'

/** The shards of a database, by number. */
export interface ShardMap {
  readonly count: number
  /** Of an integration, its payments and everything of them; null: payments that name none. */
  ofIntegration(address: string | null): number
  /** Of the directory's rows of a transaction, and of updates that wait for it. */
  ofTransaction(txHash: string): number
  /** Of the directory's row of an update. */
  ofUpdate(id: string): number
  /** Of a row with an id that the database assigned. A malformed one is left to shard 0, which finds or rejects it. */
  ofId(id: string): number
}

/** The most shards: each is a schema with all tables. It divides the first id of every segment of history. */
export const mostShards = 64

/** Whether a database may have so many shards: a power of two, so that a later release can halve each. */
export const isShardCount = (count: number): boolean =>
  Number.isInteger(count) && count >= 1 && count <= mostShards && (count & (count - 1)) === 0

/** The map of so many shards. `schema/baseline/shards.ts` has the same rules as checks of the tables. */
export function createShardMap(count: number): ShardMap {
  const ofBytes = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest().readUInt8(0) % count
  return {
    count,
    ofIntegration: (address) => (address === null ? 0 : ofBytes(keyBytes(address))),
    ofTransaction: (txHash) => ofBytes(keyBytes(txHash)),
    ofUpdate: (id) => ofBytes(Buffer.from(id, 'utf8')),
    ofId: (id) => (isId(id) ? Number(id) % count : 0),
  }
}

/** Looks up what each shard has. */
export function lookUp<Part>(parts: readonly Part[]): (shard: number) => Part {
  return (shard) => {
    const part = parts[shard]
    if (part === undefined) throw new RangeError(`The database has no shard ${shard}.`)
    return part
  }
}

/** What all shards have, by number. */
export const allOf = <Part>({ count }: ShardMap, at: (shard: number) => Part): Part[] =>
  Array.from({ length: count }, (_, shard) => at(shard))

/** Items by shard, ascending: every transaction then locks the shards in the same order. */
export function byShard<Item>(items: readonly Item[], shardOf: (item: Item) => number): [number, Item[]][] {
  const groups = new Map<number, Item[]>()
  for (const item of items) {
    const shard = shardOf(item)
    const group = groups.get(shard)
    if (group === undefined) groups.set(shard, [item])
    else group.push(item)
  }
  return [...groups].sort(([a], [b]) => a - b)
}
