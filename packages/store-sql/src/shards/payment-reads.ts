/** Reads payments of all shards. Source: docs/decisions/shards.md. @module */
import type { PaymentReads } from '@payment-integration/core/ports'
import type { Connection, Engine, ShardEngine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { keyBytes } from '../internal/hex.js'
import { nullableInteger } from '../internal/values.js'
import { transactionQuery } from '../payments/payment-reads.js'
import { storedPayment } from '../payments/payment-row.js'
import { findPayments } from './directory.js'
import { byNumber, firstOf, ofEach } from './merge.js'
import { allOf, lookUp, type ShardMap } from './shard-map.js'
import { tablesIn } from './transaction.js'

/** The reads of each schema. */
export interface ShardedPaymentReadsDeps {
  readonly map: ShardMap
  readonly engine: Engine
  readonly shards: readonly ShardEngine[]
  /** Of the schema that has the checkpoints. */
  readonly main: PaymentReads
  /** Of a shard. */
  at(shard: number): PaymentReads
}

/** Builds the reads. */
export function shardedPaymentReads({ map, engine, shards, main, at }: ShardedPaymentReadsDeps): PaymentReads {
  const parts = allOf(map, at)
  const shard = lookUp(shards)
  return {
    ...main,
    list: (query) => at(map.ofIntegration(query.integrationAddress)).list(query),
    findByHash: (query) => at(map.ofIntegration(query.integrationAddress)).findByHash(query),
    transaction({ chainId, txHash }) {
      const values = { chainId: checkInteger(chainId, 'chainId'), txHash: keyBytes(txHash) }
      const read = (db: Connection) => transactionQuery(db, (name) => values[name]).execute()
      return engine.transaction(
        async (db) => {
          const [first] = await read(db)
          const known = await findPayments(map, tablesIn(db, shards), [txHash])
          const own = [...new Set(known.map((each) => each.shard))]
          const found = await ofEach(own, async (number) =>
            (await read(shard(number).within(db))).flatMap((row) => (row.id === null ? [] : storedPayment(row))),
          )
          return {
            payments: firstOf(found, (a, b) => a.ordinal - b.ordinal),
            indexedTo: nullableInteger(first?.beside ?? null),
          }
        },
        { isSnapshot: true },
      )
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
