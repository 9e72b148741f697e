/** Engines for tests of plans, settings and locks. @module */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Engine } from '../../src/engine.js'
import { createPostgresEngine } from '../../src/postgres/postgres-engine.js'
import { createSqliteEngine } from '../../src/sqlite/create-sqlite-store.js'
import { createSqliteFile } from '../../src/sqlite/sqlite-file.js'
import { createTestDatabase } from '../postgres.js'

/** An engine, and the function that closes it. */
export interface OpenEngine {
  readonly engine: Engine
  close(): Promise<void>
}

/** A folder that the test removes. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'pi-store-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** An engine over a new SQLite file. */
export async function openSqlite(): Promise<OpenEngine> {
  const folder = temporaryFolder()
  const engine = createSqliteEngine(createSqliteFile(join(folder.path, 'payments.db'), 5_000), Date)
  return {
    engine,
    async close() {
      await engine.close()
      folder.remove()
    },
  }
}

/** An engine that calls `note` with each statement of its transactions. */
export function noting(engine: Engine, note: (statement: string) => void): Engine {
  return {
    ...engine,
    transaction: (work, options) =>
      engine.transaction((db) => {
        const executor = db.getExecutor()
        const { executeQuery } = executor
        executor.executeQuery = (query, ...rest) => {
          note(query.sql)
          return executeQuery.call(executor, query, ...rest) as ReturnType<typeof executor.executeQuery<never>>
        }
        return work(db)
      }, options),
  }
}

/** An engine over a PostgreSQL database of its own. */
export async function openPostgres(): Promise<OpenEngine> {
  const server = await createTestDatabase()
  const pool = new pg.Pool({ connectionString: server.connectionString, max: 4 })
  // A closing connection may still get the error that its database was dropped.
  pool.on('error', () => undefined)
  const engine = createPostgresEngine(pool, { schema: 'plans', end: () => pool.end() })
  return {
    engine,
    async close() {
      await engine.close()
      await server.remove()
    },
  }
}
