/** The stores that a seed may run on. @module */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, Store } from '@payment-integration/core/ports'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { memoryStore } from '../../packages/core/test/support/memory-store.js'
import type { Plan } from './plan.js'

/** An open store. */
export interface OpenedStore {
  readonly store: Store
  /** Whether it keeps deliveries. */
  readonly delivers: boolean
  close(): Promise<void>
}

/** Opens an empty store. */
export async function openStore(kind: Plan['store'], clock: Clock): Promise<OpenedStore> {
  if (kind === 'memory') {
    // The double has what indexing and updates use; nothing else of the service runs on it.
    const store = memoryStore({ now: () => clock.now() }) as Partial<Store> as Store
    return { store, delivers: false, close: async () => undefined }
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
