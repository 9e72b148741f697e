/** The two databases that the bench fills: a SQLite file, and a PostgreSQL of its own. @module */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import pg from 'pg'
import { startPostgres } from '../../packages/store-sql/test/postgres.js'

/** A database that is removed after the bench. */
export interface BenchDatabase {
  readonly engine: 'SQLite' | 'PostgreSQL'
  /** As `PI_DATABASE_URL` takes it. */
  readonly url: string
  openStore(): Store
  /** What an operator would have the database do after a bulk load. */
  settle(): Promise<void>
  remove(): Promise<void>
}

/** A file in a folder of its own. */
export async function sqliteDatabase(): Promise<BenchDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  const path = join(folder, 'bench.db')
  return {
    engine: 'SQLite',
    url: `sqlite:${path}`,
    openStore: () => createSqliteStore({ path }),
    settle: async () => {},
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** A server in a folder of its own. */
export async function postgresDatabase(): Promise<BenchDatabase> {
  const postgres = await startPostgres()
  const { connectionString } = postgres
  return {
    engine: 'PostgreSQL',
    url: connectionString,
    openStore: () => createPostgresStore({ connectionString }),
    async settle() {
      const client = new pg.Client({ connectionString })
      await client.connect()
      await client.query('vacuum analyze')
      await client.end()
    },
    remove: () => postgres.remove(),
  }
}
