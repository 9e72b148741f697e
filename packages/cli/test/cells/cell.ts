/** A cell for tests: a service on a database, with its app. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@payment-integration/client'
import type { Recording, Service, ServiceEvent } from '@payment-integration/core'
import { createService, parseMasterKey } from '@payment-integration/core'
import type { FulfillmentSource, Store } from '@payment-integration/core/ports'
import { createApp, createUndiciSender } from '@payment-integration/server'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { createTestDatabase } from '../../../store-sql/test/postgres.js'
import type { scriptedChain } from '../../../store-sql/test/support/scripted-chain.js'
import { testMasterKey } from '../master-key.js'

export type Database = 'PostgreSQL' | 'SQLite'

type Chain = ReturnType<typeof scriptedChain>

async function openStore(database: Database, clock: { now(): number }) {
  if (database === 'PostgreSQL') {
    const { connectionString, remove } = await createTestDatabase()
    return { store: createPostgresStore({ connectionString, clock }), remove }
  }
  const folder = mkdtempSync(join(tmpdir(), 'pi-cell-'))
  const store = createSqliteStore({ path: join(folder, 'cell.db'), clock })
  return { store, remove: async () => rmSync(folder, { recursive: true }) }
}

/** Indexes to the head of each chain. */
export async function indexAll({ indexers }: Service): Promise<void> {
  for (const indexer of indexers) while (!(await indexer.step())) {}
}

/** Settings of a cell. */
export interface CellOptions {
  readonly recording?: Recording | undefined
  readonly confirmations?: number | undefined
  readonly fulfillments?: FulfillmentSource | undefined
}

/** Opens a cell that follows a chain. */
export async function openCell(
  database: Database,
  chain: Chain,
  clock: { now(): number },
  { recording, confirmations, fulfillments }: CellOptions = {},
) {
  const { store, remove } = await openStore(database, clock)
  await store.migrate()
  const sender = createUndiciSender({ allowLoopbackHttp: true })
  const events: ServiceEvent[] = []
  const serviceOn = (on: Store, records = recording): Service =>
    createService({
      store: on,
      sender,
      masterKey: parseMasterKey(testMasterKey),
      allowLoopbackHttp: true,
      recording: records,
      chains: [{ chain: chain.chain, startBlock: 0 }],
      ...(fulfillments === undefined ? {} : { fulfillments: { source: fulfillments } }),
      onEvent: (event) => events.push(event),
      ...(confirmations === undefined ? {} : { confirmations: { [chain.chain.chainId]: confirmations } }),
      clock: { now: () => clock.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) },
    })
  const service = serviceOn(store)
  return {
    store,
    service,
    events,
    /** The same on a store that the test has wrapped. */
    serviceOn,
    index: () => indexAll(service),
    /** Attempts everything that is due. Resolves the number of attempts. */
    async deliver() {
      let attempts = 0
      for (let attempted = -1; attempted !== 0; attempts += attempted) attempted = await service.dispatcher.runOnce()
      return attempts
    },
    client(integrationAddress: string, apiSecret: string) {
      const health = async () => ({ status: 'ok', database: 'ok', chains: [] }) as const
      const app = createApp({ service, receiveUpdate: null, health })
      const fetch = async (input: string | URL | Request, init?: RequestInit) => app.fetch(new Request(input, init))
      return createClient({ baseUrl: 'https://cell.example', integrationAddress, apiSecret, fetch })
    },
    async close() {
      await sender.close()
      await store.close()
      await remove()
    },
  }
}

export type Cell = Awaited<ReturnType<typeof openCell>>
