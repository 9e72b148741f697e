/** The stores that a seed may run on. @module */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, Store } from '@payment-integration/core/ports'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { createStore } from '../../../packages/store-sql/src/create-store.js'
import { takeSqlite } from '../../../packages/store-sql/test/support/sqlite-database.js'
import type { Plan } from './plan.js'

export interface OpenedStore {
  readonly store: Store
  /** Whether its deliveries are sent. */
  readonly delivers: boolean
  close(): Promise<void>
}

/** Opens an empty store. */
export async function openStore(kind: Plan['store'], clock: Clock): Promise<OpenedStore> {
  if (kind === 'quick') {
    const database = takeSqlite(clock)
    return { store: createStore(database.engine), delivers: false, close: async () => database.release() }
  }
  const folder = await mkdtemp(join(tmpdir(), 'payment-simulation-'))
  const store = createSqliteStore({ path: join(folder, 'payments.db'), clock })
  await store.migrate()
  return {
    store,
    delivers: true,
    async close() {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
