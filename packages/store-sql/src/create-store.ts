/** Builds the store over either database. @module */
import { AsyncLocalStorage } from 'node:async_hooks'
import { systemIds } from '@payment-integration/core'
import type { Ids, Store } from '@payment-integration/core/ports'
import type { Engine } from './engine.js'
import { releasedMigrations } from './migrations/released.js'
import { createSchemaStore, type GuardedEngine } from './schema-store.js'
import { createShardedStore } from './shards/sharded-store.js'

/** Builds the store port on an engine. */
export function createStore(database: Engine, ids: Ids = systemIds, migrations = releasedMigrations): Store {
  const { shards } = database
  const guarded = rejectNesting(database)
  return shards === undefined
    ? createSchemaStore(guarded, ids, migrations)
    : createShardedStore(guarded, shards, ids, migrations)
}

/**
 * Rejects a transaction that starts inside the work of another one: it would wait for itself. Work that outlives its
 * transaction may start new ones.
 *
 * @returns The engine, and one for the store's own transactions, whose work never starts another. These are rejected
 * inside other work too, but not tracked: tracking slows every promise of the process while they run.
 */
function rejectNesting(database: Engine): GuardedEngine {
  const current = new AsyncLocalStorage<{ open: boolean }>()
  let running = 0
  const assertNotNested = () => {
    if (current.getStore()?.open)
      throw new TypeError('A transaction was started inside the work of another one; use its `tx` instead.')
  }
  const engine: Engine = {
    ...database,
    async transaction(work, options) {
      assertNotNested()
      const scope = { open: true }
      running += 1
      try {
        return await database.transaction((db) => current.run(scope, () => work(db)), options)
      } finally {
        scope.open = false
        running -= 1
        // Until Node 24, tracking a context slows every promise of the process.
        if (running === 0) current.disable()
      }
    },
  }
  const outbox: Engine = {
    ...database,
    async transaction(work, options) {
      assertNotNested()
      return database.transaction(work, options)
    },
  }
  return { engine, outbox, assertNotNested }
}
