/** Reads payments of all shards. Source: docs/decisions/shards.md. @module */
import type { PaymentReads, StoredPayment } from '@payment-integration/core/ports'
import { findPayments, type ShardTables } from './directory.js'
import { byNumber, firstOf, ofEach } from './merge.js'
import { allOf, type ShardMap } from './shard-map.js'

/**
 * Builds the reads.
 * @param main - Of the schema that has the checkpoints.
 * @param at - Of a shard.
 * @param tables - Of each shard, for reads.
 */
export function shardedPaymentReads(
  map: ShardMap,
  main: PaymentReads,
  at: (shard: number) => PaymentReads,
  tables: ShardTables,
): PaymentReads {
  const parts = allOf(map, at)
  return {
    ...main,
    list: (query) => at(map.ofIntegration(query.integrationAddress)).list(query),
    findByHash: (query) => at(map.ofIntegration(query.integrationAddress)).findByHash(query),
    async transaction(key) {
      // The height comes first: with a later one, a payment that is read too early could pass for final.
      const { indexedTo } = await main.transaction(key)
      const known = await findPayments(map, tables, [key.txHash])
      const payments: StoredPayment[] = []
      for (const shard of new Set(known.map((each) => each.shard)))
        payments.push(...(await at(shard).transaction(key)).payments)
      return { payments: payments.sort((a, b) => a.ordinal - b.ordinal), indexedTo }
    },
    async listUnsettled(query) {
      const found = await ofEach(parts, (part) => part.listUnsettled(query))
      return firstOf(found, (a, b) => byNumber(a.id, b.id), query.limit)
    },
    async unsettledChains() {
      const found = await ofEach(parts, (part) => part.unsettledChains())
      return [...new Set(found.flat())].sort((a, b) => a - b)
    },
    snapshot: (paymentId, version) => at(map.ofId(paymentId)).snapshot(paymentId, version),
  }
}
