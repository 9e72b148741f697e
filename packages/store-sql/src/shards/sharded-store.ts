/** Builds the store over a database in shards. Source: docs/decisions/shards.md. @module */
import type { Ids, MoveStore, Store } from '@payment-integration/core/ports'
import type { Engine, ShardEngine } from '../engine.js'
import type { UpdateDirectory } from '../history/history-store.js'
import { moveTransaction } from '../moves/move-store.js'
import type { Migration } from '../schema/migration.js'
import { createSchemaStore, type GuardedEngine } from '../schema-store.js'
import { shardedAudit, shardedAuditPages } from './audit.js'
import { shardedConsole } from './console.js'
import { shardedDeliveries } from './deliveries.js'
import { forgetUpdates, placeUpdates } from './directory.js'
import { shardedHistory } from './history.js'
import { byNumber, byText, firstOf, ofEach } from './merge.js'
import { shardedMoves, shardedMoveTransaction } from './moves.js'
import { shardedPaymentReads } from './payment-reads.js'
import { shardedSchema } from './schema.js'
import { createShardMap, lookUp, type ShardMap } from './shard-map.js'
import { tablesIn, transactionIn } from './transaction.js'

/** Builds it: a store of each schema, and one over all of them that finds the shard of each call. */
export function createShardedStore(
  guarded: GuardedEngine,
  shards: readonly ShardEngine[],
  ids: Ids,
  migrations: readonly Migration[],
): Store {
  const { engine, outbox } = guarded
  const map = createShardMap(shards.length)
  const main = createSchemaStore(guarded, ids, migrations)
  const stores = shards.map((shard, number) =>
    createSchemaStore(
      { ...guarded, engine: inShard(engine, shard), outbox: inShard(outbox, shard) },
      ids,
      migrations,
      updateDirectory(map, shards, number),
    ),
  )
  const at = lookUp(stores)
  const { migrate, ...schema } = shardedSchema(
    engine,
    { ...main.schema, migrate: main.migrate },
    stores.map((store) => ({ ...store.schema, migrate: store.migrate })),
  )
  const transaction: MoveStore['transaction'] = (work) =>
    engine.transaction((db) => {
      const moves = shards.map((shard) => moveTransaction(shard.within(db), shard.dialect))
      return work(shardedMoveTransaction(map, tablesIn(db, shards), lookUp(moves)))
    })
  return {
    ...main,
    migrate,
    schema,
    async transaction(work, options = {}) {
      let made = 0
      const result = await engine.transaction((db) => {
        made = 0
        return work(transactionIn({ map, db, dialect: engine.dialect, shards, madeDue: (count) => (made += count) }))
      }, options)
      if (made > 0) engine.announceDue()
      return result
    },
    payments: shardedPaymentReads({ map, engine, shards, main: main.payments, at: (shard) => at(shard).payments }),
    chains: {
      ...main.chains,
      async waitingDeposits(query) {
        const found = await ofEach(stores, ({ chains }) => chains.waitingDeposits(query))
        return firstOf(found, (a, b) => byNumber(a.id, b.id), query.limit)
      },
    },
    deliveries: shardedDeliveries(
      map,
      outbox,
      shards,
      stores.map(({ deliveries }) => deliveries),
      ids,
    ),
    integrations: shardedIntegrations(map, stores),
    integrationSessions: {
      async find(hash) {
        for (const { integrationSessions } of stores) {
          const found = await integrationSessions.find(hash)
          if (found !== null) return found
        }
        return null
      },
    },
    audit: shardedAudit(map, main.audit, (shard) => at(shard).audit),
    console: {
      ...shardedConsole(map, (shard) => at(shard).console),
      audit: shardedAuditPages(map, main.console, (shard) => at(shard).console),
    },
    history: shardedHistory(
      map,
      stores.flatMap(({ history }) => history ?? []),
      engine.exclusively,
    ),
    moves: shardedMoves(map, lookUp(stores.flatMap(({ moves }) => moves ?? [])), transaction),
    async sealingKeys(now) {
      const all = (await ofEach([main, ...stores], (store) => store.sealingKeys(now))).flat()
      const uses = new Map<string, (typeof all)[number]>()
      for (const use of all) {
        const key = `${use.place} ${use.keyVersion}`
        uses.set(key, { ...use, rows: use.rows + (uses.get(key)?.rows ?? 0) })
      }
      return [...uses.values()]
    },
  }
}

/** The directory of the updates of a shard. */
function updateDirectory(map: ShardMap, shards: readonly ShardEngine[], number: number): UpdateDirectory {
  return {
    enter: (db, ids) =>
      placeUpdates(map, tablesIn(db, shards), new Map(ids.map((id) => [id, number])), { moves: false }),
    forget: (db, ids) => forgetUpdates(map, tablesIn(db, shards), ids),
  }
}

/** The engine of a shard, whose transactions are guarded as those of the database. */
function inShard(engine: Engine, shard: ShardEngine): Engine {
  return {
    ...shard,
    transaction: (work, options) => engine.transaction((db) => work(shard.within(db)), options),
  }
}

function shardedIntegrations(map: ShardMap, stores: readonly Store[]): Store['integrations'] {
  const at = lookUp(stores)
  const ofIntegration = (address: string) => at(map.ofIntegration(address)).integrations
  return {
    find: (address) => ofIntegration(address).find(address),
    credentials: (address, absent) => ofIntegration(address).credentials(address, absent),
    async list() {
      const found = await ofEach(stores, ({ integrations }) => integrations.list())
      return firstOf(found, (a, b) => byText(a.address, b.address))
    },
    insert: (record) => ofIntegration(record.address).insert(record),
    update: (address, change, onlyIf) => ofIntegration(address).update(address, change, onlyIf),
  }
}
