/** Opens an empty database for the bench of cells. @module */
import type { Store } from '@payment-integration/core/ports'
import { type Engine, openDatabase } from '../databases.js'

/** A database without a row. */
export interface Opened {
  readonly store: Store
  readonly url: string | null
  remove(): Promise<void>
}

/** Opens a database and makes its tables. */
export async function openEmpty(engine: Engine): Promise<Opened> {
  const database = await openDatabase(engine)
  const store = database.openStore()
  await store.migrate()
  return {
    store,
    url: database.url,
    async remove() {
      await store.close()
      await database.end()
    },
  }
}
