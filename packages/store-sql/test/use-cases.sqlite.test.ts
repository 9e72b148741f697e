import { createStore } from '../src/create-store.js'
import { severalUpdates } from './several-updates.js'
import { takeSqlite } from './support/sqlite-database.js'
import { useCaseRaces } from './use-case-races.js'
import { useCases } from './use-cases.js'

const open = async () => {
  const database = takeSqlite()
  return { store: createStore(database.engine), close: async () => database.release() }
}
useCases('SQLite', open)
severalUpdates('SQLite', open)
useCaseRaces('SQLite', open)
