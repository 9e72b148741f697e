import { createPostgresStore } from '../src/exports/postgres.js'
import { historyConformance, storeConformance } from './conformance/store-conformance.js'
import { onEmptiedPostgres } from './support/migrated-databases.js'

onEmptiedPostgres((openStore, connectionString) => {
  storeConformance('PostgreSQL', openStore)
  let schemas = 0
  // Removed segments leave no tables to empty.
  historyConformance('PostgreSQL', async () => {
    schemas += 1
    const schema = `history_${schemas}`
    const open = async () => createPostgresStore({ connectionString: connectionString(), schema })
    const store = await open()
    await store.migrate()
    return { store, openAnother: open, close: () => store.close() }
  })
})
