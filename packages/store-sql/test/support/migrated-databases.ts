/** Empty databases with the current schema: copies of one that was migrated, which are made sooner than one is migrated. @module */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { createPostgresStore, createSqliteStore } from '../../src/exports/index.js'
import type { TestPostgres } from '../postgres.js'
import { temporaryFolder } from './engines.js'

/** A database of its own for a test. */
export interface MigratedDatabase {
  /** Its address, or the path of its file. */
  readonly place: string
  /** Takes it away. Nobody may be connected any more. */
  remove(): Promise<void>
}

/** Makes them until it is closed. */
export interface MigratedDatabases {
  make(): Promise<MigratedDatabase>
  close(): Promise<void>
}

/** Databases of a server. */
export async function migratedOnPostgres({ connectionString }: TestPostgres): Promise<MigratedDatabases> {
  const addressOf = (database: string) => connectionString.replace('/postgres?', `/${database}?`)
  const admin = new pg.Client({ connectionString })
  await admin.connect()
  await admin.query('create database migrated')
  await migrateAndClose(createPostgresStore({ connectionString: addressOf('migrated') }))
  let made = 0
  return {
    async make() {
      const database = `copy_${++made}`
      await admin.query(`create database ${database} template migrated strategy file_copy`)
      return {
        place: addressOf(database),
        remove: async () => void (await admin.query(`drop database ${database} with (force)`)),
      }
    },
    close: () => admin.end(),
  }
}

/** Files of SQLite. */
export async function migratedOnSqlite(): Promise<MigratedDatabases> {
  const folder = temporaryFolder()
  const migrated = join(folder.path, 'migrated.db')
  await migrateAndClose(createSqliteStore({ path: migrated }))
  return {
    async make() {
      const own = temporaryFolder()
      const place = join(own.path, 'payments.db')
      copyFileSync(migrated, place)
      return { place, remove: async () => own.remove() }
    },
    close: async () => folder.remove(),
  }
}

async function migrateAndClose(store: ReturnType<typeof createSqliteStore>): Promise<void> {
  await store.migrate()
  await store.close()
}
