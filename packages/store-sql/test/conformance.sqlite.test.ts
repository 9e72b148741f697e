import { createStore } from '../src/create-store.js'
import { createSqliteStore } from '../src/exports/sqlite.js'
import { dialectConformance, historyConformance, storeConformance } from './conformance/store-conformance.js'
import { takeSqlite } from './support/sqlite-database.js'

const open = async () => {
  let now = 1_700_000_000_000
  const database = takeSqlite({ now: () => now })
  return {
    store: createStore(database.engine),
    openAnother: async () => createSqliteStore({ path: database.path, clock: { now: () => now }, synced: false }),
    advanceClock(ms: number) {
      now += ms
    },
    close: async () => database.release(),
  }
}
dialectConformance('SQLite', open)
storeConformance('SQLite', open)
historyConformance('SQLite', open)
