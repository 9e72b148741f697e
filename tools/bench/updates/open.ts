/** Opens empty databases, and the service on them. @module */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import pg from 'pg'
import { startPostgres } from '../../../packages/store-sql/test/postgres.js'
import type { Engine } from '../console/database.js'

export { serviceOn } from '../console/database.js'

/** A database without a row. */
export interface Opened {
  readonly store: Store
  /** The server's address; null on SQLite, like `folder`. */
  readonly url: string | null
  /** The folder of the server's data. */
  readonly folder: string | null
  /** Frees the room of dead rows, as the server does from time to time. */
  vacuum(): Promise<void>
  remove(): Promise<void>
}

/** Opens a database and makes its tables. */
export async function openEmpty(engine: Engine): Promise<Opened> {
  const opened = engine === 'PostgreSQL' ? await openPostgres() : await openSqlite()
  await opened.store.migrate()
  return opened
}

async function openPostgres(): Promise<Opened> {
  const server = await startPostgres()
  const store = createPostgresStore({ connectionString: server.connectionString })
  return {
    store,
    url: server.connectionString,
    folder: join(server.folder, 'data'),
    async vacuum() {
      const client = new pg.Client({ connectionString: server.connectionString })
      await client.connect()
      await client.query('vacuum analyze')
      await client.end()
    },
    async remove() {
      await store.close()
      await server.remove()
    },
  }
}

async function openSqlite(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-updates-'))
  const store = createSqliteStore({ path: join(folder, 'bench.db') })
  return {
    store,
    url: null,
    folder: null,
    vacuum: async () => undefined,
    async remove() {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
