/** The stores that a seed may run on. @module */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, Store } from '@payment-integration/core/ports'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { memoryStore } from '../../../packages/core/test/support/memory-store.js'
import type { Plan } from './plan.js'

/** An open store. */
export interface OpenedStore {
  readonly store: Store
  /** Whether its deliveries are sent. */
  readonly delivers: boolean
  close(): Promise<void>
}

/** Opens an empty store. */
export async function openStore(kind: Plan['store'], clock: Clock): Promise<OpenedStore> {
  if (kind === 'memory') {
    const store = memoryStore({ now: () => clock.now() })
    return { store, delivers: false, close: () => store.close() }
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
