/**
 * Empty databases with the current schema, which one test after the other gets: migrating for each takes longer than
 * the tests do.
 * @module
 */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { createPostgresStore, postgresStoreDefaults } from '../../src/exports/postgres.js'
import { createSqliteStore } from '../../src/exports/sqlite.js'
import type { TestDatabase } from '../postgres.js'
import { temporaryFolder } from './engines.js'

/** One database of a server, for tests that run one after the other. */
export interface EmptiedDatabase {
  readonly connectionString: string
  /** Empties it. No transaction may run in it. */
  empty(): Promise<void>
  close(): Promise<void>
}

/** A schema of a server, migrated. */
export async function emptiedOnPostgres(
  { connectionString }: TestDatabase,
  schema: string = postgresStoreDefaults.schema,
): Promise<EmptiedDatabase> {
  await migrateAndClose(createPostgresStore({ connectionString, schema }))
  const admin = new pg.Client({ connectionString })
  await admin.connect()
  const namesOf = async (kinds: string) => {
    const query = `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and strpos($2, c.relkind::text) > 0 and not c.relispartition`
    const { rows } = await admin.query<{ name: string }>(query, [schema, kinds])
    return rows.map(({ name }) => `${schema}.${name}`)
  }
  // Rows of locks have names alone.
  const kept = ['schema_versions', 'locks'].map((name) => `${schema}.${name}`)
  const tables = (await namesOf('rp')).filter((name) => !kept.includes(name))
  // Rows of a migration would be deleted after the first test.
  for (const table of tables)
    if ((await admin.query(`select 1 from ${table} limit 1`)).rows.length > 0) throw new Error(`${table} is not empty.`)
  const statements = [
    // Neither references nor triggers: all rows go.
    'set session_replication_role = replica',
    ...tables.map((table) => `delete from ${table}`),
    ...(await namesOf('S')).map((sequence) => `select setval('${sequence}', 1, false)`),
  ]
  return {
    connectionString,
    empty: async () => void (await admin.query(statements.join('; '))),
    close: () => admin.end(),
  }
}

/** Files of SQLite, each a copy of one that was migrated. */
export interface CopiedFiles {
  make(): { readonly path: string; remove(): void }
  close(): void
}

/** Makes the file that is copied. */
export async function copiedOnSqlite(): Promise<CopiedFiles> {
  const folder = temporaryFolder()
  const migrated = join(folder.path, 'migrated.db')
  await migrateAndClose(createSqliteStore({ path: migrated }))
  return {
    make() {
      const own = temporaryFolder()
      const path = join(own.path, 'payments.db')
      copyFileSync(migrated, path)
      return { path, remove: own.remove }
    },
    close: folder.remove,
  }
}

async function migrateAndClose(store: ReturnType<typeof createSqliteStore>): Promise<void> {
  await store.migrate()
  await store.close()
}
