/** The operations of one transaction over all shards. Source: docs/decisions/shards.md. @module */
import type {
  IntegrationSessionTransaction,
  NewPayment,
  StoredPayment,
  StoreTransaction,
  UpsertedPayments,
} from '@payment-integration/core/ports'
import type { Transaction } from 'kysely'
import type { Connection, Parameter, ShardEngine, SqlDialect } from '../engine.js'
import { run } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import { integrationOf, keyOf } from '../payments/upsert-payments.js'
import type { Integer } from '../schema/integer.js'
import type { Tables } from '../schema/tables.js'
import { insertSnapshots } from '../snapshots.js'
import { createStoreTransaction } from '../store-transaction.js'
import { shardedAuditIn } from './audit.js'
import { findPayments, placePayments, type ShardTables } from './directory.js'
import { byNumber, byText, firstOf, ofEach } from './merge.js'
import { replayInShards } from './replay.js'
import { allOf, byShard, lookUp, type ShardMap } from './shard-map.js'
import { updateRecords } from './update-records.js'

/** A shard in a transaction. */
type ShardIn = Pick<ShardEngine, 'dialect' | 'within'>

/** What the transaction is made of. */
export interface ShardedTransactionDeps {
  readonly map: ShardMap
  /** The transaction, in the schema that has chains, accounts, operators and identity. */
  readonly db: Transaction<Tables>
  readonly dialect: SqlDialect
  readonly shards: readonly ShardIn[]
  /** Called with the number of deliveries that became due. */
  readonly madeDue: (deliveries: number) => void
}

/** The tables of each shard in a transaction. */
export function tablesIn(db: Transaction<Tables>, shards: readonly ShardIn[]): ShardTables {
  return lookUp(shards.map(({ within, dialect }) => ({ db: within(db), dialect })))
}

/** Builds them. */
export function transactionIn({ map, db, dialect, shards, madeDue }: ShardedTransactionDeps): StoreTransaction {
  const main = createStoreTransaction(db, dialect, madeDue)
  const tables = tablesIn(db, shards)
  const opened = new Map<number, StoreTransaction>()
  const at = (shard: number) => {
    const own = tables(shard)
    const transaction = opened.get(shard) ?? createStoreTransaction(own.db, own.dialect, madeDue)
    opened.set(shard, transaction)
    return transaction
  }
  const all = () => allOf(map, at)
  const ofIntegration = (address: string) => at(map.ofIntegration(address))
  const ofId = (id: string) => at(map.ofId(id))

  async function upsertPayments(payments: readonly NewPayment[]): Promise<UpsertedPayments> {
    const wanted = payments.map(({ facts }) => ({ ...facts, shard: map.ofIntegration(facts.integrationAddress) }))
    const shards = await placePayments(map, tables, wanted)
    const shardOf = ({ facts }: NewPayment) => shards.get(keyOf(facts)) ?? 0
    const inserted = new Map<string, StoredPayment>()
    const returned: StoredPayment[] = []
    for (const [shard, own] of byShard(payments, shardOf)) {
      const stored = await at(shard).upsertPayments(await withStoredIntegrations(shard, own))
      for (const payment of stored.inserted) inserted.set(keyOf(payment), payment)
      returned.push(...stored.returned)
    }
    const keys = [...new Set(payments.map(({ facts }) => keyOf(facts)))]
    return {
      inserted: keys.flatMap((key) => inserted.get(key) ?? []),
      returned: returned.sort((a, b) => byNumber(a.id, b.id)),
    }
  }

  /** A payment that was mined again may name another integration. It keeps its first one, and with it its shard. */
  async function withStoredIntegrations(
    shard: number,
    payments: readonly NewPayment[],
  ): Promise<readonly NewPayment[]> {
    if (payments.every(({ facts }) => map.ofIntegration(facts.integrationAddress) === shard)) return payments
    const { db } = tables(shard)
    return ofEach(payments, async (payment) => {
      const { facts } = payment
      if (map.ofIntegration(facts.integrationAddress) === shard) return payment
      return { ...payment, facts: { ...facts, integrationAddress: await integrationOf(db, facts) } }
    })
  }

  return {
    ...main,
    upsertPayments,
    async leaveChain(chainId, above) {
      for (const shard of all()) await shard.leaveChain(chainId, above)
    },
    async leavePayments(paymentIds) {
      for (const [shard, own] of byShard(paymentIds, map.ofId)) await at(shard).leavePayments(own)
    },
    async paymentsInBlocks(chainId, from, to) {
      const found = await ofEach(all(), (shard) => shard.paymentsInBlocks(chainId, from, to))
      return firstOf(found, (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex || byNumber(a.id, b.id))
    },
    async overduePayments(chainId, atOrBelow, limit, awaitedAtOrBelow) {
      const found = await ofEach(all(), (shard) => shard.overduePayments(chainId, atOrBelow, limit, awaitedAtOrBelow))
      return firstOf(found, (a, b) => a.blockNumber - b.blockNumber || byNumber(a.id, b.id), limit)
    },
    setDropped: (paymentId, dropped) => ofId(paymentId).setDropped(paymentId, dropped),
    async paymentsForChange(...selectors) {
      const known = await findPayments(
        map,
        tables,
        selectors.map(({ txHash }) => txHash),
      )
      const ofTransactions = new Set(known.map(({ txHash, shard }) => `${shard}:${txHash}`))
      const shards = [...new Set(known.map(({ shard }) => shard))].sort((a, b) => a - b)
      const found = await ofEach(shards, (shard) =>
        at(shard).paymentsForChange(...selectors.filter(({ txHash }) => ofTransactions.has(`${shard}:${txHash}`))),
      )
      return firstOf(found, (a, b) => a.ordinal - b.ordinal)
    },
    async setStatuses(statuses) {
      for (const [shard, own] of byShard([...statuses], ([id]) => map.ofId(id)))
        await at(shard).setStatuses(new Map(own))
    },
    async insertSnapshots(snapshots) {
      const groups = byShard(snapshots, ({ paymentId }) => map.ofId(paymentId))
      // One time for all: of equally loaded endpoints the longest due delivery goes first.
      const now = groups.length > 1 ? await timeOf(db, dialect) : null
      for (const [shard, own] of groups) {
        const tablesOf = tables(shard)
        const fixed = now === null ? {} : { nowText: (parameter: Parameter) => `cast(${parameter(now)} as bigint)` }
        madeDue(await insertSnapshots(tablesOf.db, { ...tablesOf.dialect, ...fixed }, own))
      }
    },
    async upsertDeposits(deposits) {
      const shardOf = map.ofIntegration
      for (const [shard, own] of byShard(deposits, ({ payment }) => shardOf(payment.integrationAddress)))
        await at(shard).upsertDeposits(own)
    },
    settleDeposit: (id) => ofId(id).settleDeposit(id),
    ...updateRecords(map, tables, at),
    replayDeliveries: (request) => replayInShards(map, at, request),
    integrations: {
      find: (address) => ofIntegration(address).integrations.find(address),
      list: async () =>
        firstOf(await ofEach(all(), (shard) => shard.integrations.list()), (a, b) => byText(a.address, b.address)),
      insert: (record) => ofIntegration(record.address).integrations.insert(record),
      update: (address, change, onlyIf) => ofIntegration(address).integrations.update(address, change, onlyIf),
    },
    integrationSessions: sessionsIn(all, ofIntegration),
    ...shardedAuditIn(map, main, at),
  }
}

/** The time of the database. */
async function timeOf(db: Connection, dialect: SqlDialect): Promise<number> {
  const [row] = await run<{ now: Integer }>(db, dialect, (parameter) => `select ${dialect.nowText(parameter)} as now`)
  return integer(row?.now ?? 0)
}

function sessionsIn(
  all: () => readonly StoreTransaction[],
  ofIntegration: (address: string) => StoreTransaction,
): IntegrationSessionTransaction {
  return {
    insert: (session) => ofIntegration(session.integrationAddress).integrationSessions.insert(session),
    async delete(hash) {
      for (const { integrationSessions } of all()) {
        const deleted = await integrationSessions.delete(hash)
        if (deleted !== null) return deleted
      }
      return null
    },
    deleteOf: (address) => ofIntegration(address).integrationSessions.deleteOf(address),
    async deleteExpired(now) {
      for (const { integrationSessions } of all()) await integrationSessions.deleteExpired(now)
    },
  }
}
