/** Opens the bench's databases: a SQLite file or a temporary PostgreSQL. @module */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import pg from 'pg'
import { startPostgres } from '../../../packages/store-sql/test/postgres.js'

/** A database that is removed after the bench. */
export interface BenchDatabase {
  readonly engine: 'SQLite' | 'PostgreSQL'
  /** A value for `PI_DATABASE_URL`. */
  readonly url: string
  openStore(): Store
  /** Runs an operator's maintenance after a bulk load. */
  settle(): Promise<void>
  remove(): Promise<void>
}

/** A file in a temporary folder. */
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

/** A server in a temporary folder. */
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
