/**
 * The records of updates in shards. An update that waits is in the shard of its transaction; a decided one is in the
 * shard of its payment. Source: docs/decisions/shards.md.
 *
 * @module
 */
import type { NewUpdate, SettledUpdate, StoreTransaction } from '@payment-integration/core/ports'
import { takeWaiting } from '../updates.js'
import { findUpdateShards, placeUpdates, type ShardTables } from './directory.js'
import { byShard, type ShardMap } from './shard-map.js'

type UpdateRecords = Pick<StoreTransaction, 'findUpdates' | 'insertUpdates' | 'waitingUpdates' | 'settleUpdates'>

/** @param at - The operations of a shard. */
export function updateRecords(map: ShardMap, tables: ShardTables, at: (shard: number) => UpdateRecords): UpdateRecords {
  const shardsOf = (ids: readonly string[]) => findUpdateShards(map, tables, ids)
  return {
    async findUpdates(ids) {
      const shards = await shardsOf(ids)
      const found = []
      for (const [shard, own] of byShard([...shards.keys()], (id) => shards.get(id) ?? 0))
        found.push(...(await at(shard).findUpdates(own)))
      return found
    },
    async insertUpdates(updates) {
      const shardOf = ({ paymentId, update }: NewUpdate) =>
        paymentId === null ? map.ofTransaction(update.txHash) : map.ofId(paymentId)
      const places = new Map(updates.map((each) => [each.update.id, shardOf(each)]))
      const entered = await placeUpdates(map, tables, places, { moves: false })
      const fresh = updates.filter(({ update }) => entered.has(update.id))
      const inserted = []
      for (const [shard, own] of byShard(fresh, shardOf)) inserted.push(...(await at(shard).insertUpdates(own)))
      return inserted
    },
    async waitingUpdates(keys) {
      const waiting = []
      for (const [shard, own] of byShard(keys, ({ txHash }) => map.ofTransaction(txHash)))
        waiting.push(...(await at(shard).waitingUpdates(own)))
      return waiting
    },
    async settleUpdates(settled) {
      const shards = await shardsOf(settled.map(({ id }) => id))
      const target = ({ paymentId }: SettledUpdate) => map.ofId(paymentId)
      const isMoved = (each: SettledUpdate) => shards.has(each.id) && shards.get(each.id) !== target(each)
      // An unknown one is refused by the shard of its payment.
      const staying = settled.filter((each) => !isMoved(each))
      for (const [shard, own] of byShard(staying, target)) await at(shard).settleUpdates(own)
      const moved = settled.filter(isMoved)
      const taken: NewUpdate[] = []
      for (const [shard, own] of byShard(moved, ({ id }) => shards.get(id) ?? 0)) {
        const { db, dialect } = tables(shard)
        taken.push(...(await takeWaiting(db, dialect, own)))
      }
      await placeUpdates(map, tables, new Map(moved.map((each) => [each.id, target(each)])), { moves: true })
      for (const [shard, own] of byShard(taken, ({ paymentId }) => map.ofId(paymentId ?? '0')))
        if ((await at(shard).insertUpdates(own)).length < own.length)
          throw new Error(`Shard ${shard} has an update already that waited in another shard.`)
    },
  }
}
