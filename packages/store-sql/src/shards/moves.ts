/** Moves of integrations in and out of shards. Source: docs/decisions/shards.md. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { MovedUpdate, MoveStore, MoveTransaction } from '@payment-integration/core/ports'
import { removeUpdates } from '../moves/updates.js'
import { keyOf } from '../payments/upsert-payments.js'
import { findPayments, findUpdateShards, placeUpdates, type ShardTables } from './directory.js'
import { ofEach } from './merge.js'
import { allOf, byShard, type ShardMap } from './shard-map.js'

/** @param at - The moves of a shard, but for `transaction`. */
export function shardedMoves(
  map: ShardMap,
  at: (shard: number) => Omit<MoveStore, 'transaction'>,
  transaction: MoveStore['transaction'],
): MoveStore {
  const ofIntegration = (address: string) => at(map.ofIntegration(address))
  return {
    payments: (address) => ofIntegration(address).payments(address),
    async *updates(address) {
      const own = map.ofIntegration(address)
      // Those that wait are in the shards of their transactions. One that is decided meanwhile moves to the own shard,
      // which is read last.
      const waiting = new Map<string, ProcessorUpdate>()
      for (const [shard, part] of allOf(map, at).entries())
        if (shard !== own)
          for await (const page of part.updates(address))
            for (const update of page.waiting) waiting.set(update.id, update)
      for await (const page of at(own).updates(address)) {
        for (const { id } of page.decided) waiting.delete(id)
        yield page
      }
      if (waiting.size > 0) yield { decided: [], waiting: [...waiting.values()] }
    },
    unnotified: (address) => ofIntegration(address).unnotified(address),
    leased: (address) => ofIntegration(address).leased(address),
    runningWriters: () => at(0).runningWriters(),
    transaction,
  }
}

/** @param at - The writes of a shard in the transaction. */
export function shardedMoveTransaction(
  map: ShardMap,
  tables: ShardTables,
  at: (shard: number) => MoveTransaction,
): MoveTransaction {
  return {
    async find(keys) {
      const shards = await shardsOf(map, tables, keys)
      const known = keys.filter((key) => shards.has(keyOf(key)))
      const found = await ofEach(
        byShard(known, (key) => shards.get(keyOf(key)) ?? 0),
        ([shard, own]) => at(shard).find(own),
      )
      return found.flat()
    },
    replace: (address, payments) => at(map.ofIntegration(address)).replace(address, payments),
    async putUpdates(updates) {
      const placesOf = async () => {
        const payments = await shardsOf(map, tables, updates)
        return (update: MovedUpdate) => payments.get(keyOf(update)) ?? map.ofTransaction(update.txHash)
      }
      const first = await placesOf()
      await placeUpdates(map, tables, new Map(updates.map((update) => [update.id, first(update)])), { moves: false })
      const ids = updates.map(({ id }) => id)
      // Locked, so that no other transaction decides one of them. One that ended just now may have stored its payment.
      const stored = await findUpdateShards(map, tables, ids, { locks: true })
      const target = await placesOf()
      const isElsewhere = (update: MovedUpdate) => stored.has(update.id) && stored.get(update.id) !== target(update)
      const moved = new Set<string>()
      for (const [shard, own] of byShard(updates.filter(isElsewhere), ({ id }) => stored.get(id) ?? 0)) {
        const { db, dialect } = tables(shard)
        for (const id of await removeUpdates(db, dialect, own)) moved.add(id)
      }
      // One with another fingerprint stays where it is, and is not stored.
      const put = updates.filter((update) => !isElsewhere(update) || moved.has(update.id))
      await placeUpdates(map, tables, new Map(put.map((update) => [update.id, target(update)])), { moves: true })
      return (await ofEach(byShard(put, target), ([shard, own]) => at(shard).putUpdates(own))).flat()
    },
    notify: (address, snapshotIds) => at(map.ofIntegration(address)).notify(address, snapshotIds),
  }
}

async function shardsOf(map: ShardMap, tables: ShardTables, keys: readonly Parameters<typeof keyOf>[0][]) {
  const known = await findPayments(
    map,
    tables,
    keys.map(({ txHash }) => txHash),
  )
  return new Map(known.map((payment) => [keyOf(payment), payment.shard]))
}
