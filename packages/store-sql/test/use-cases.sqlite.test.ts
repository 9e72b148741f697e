import { createStore } from '../src/create-store.js'
import { takeSqlite } from './support/sqlite-database.js'
import { useCases } from './use-cases.js'

useCases('SQLite', async () => {
  const database = takeSqlite()
  return { store: createStore(database.engine), close: async () => database.release() }
})
