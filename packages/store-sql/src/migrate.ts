/** Bringing the schema up to date. @module */
import { sql } from 'kysely'
import type { Connection, Differences, Engine } from './engine.js'
import { integer } from './internal/values.js'
import type { ColumnTypes } from './schema/column-types.js'
import type { Integer } from './schema/integer.js'
import { migration1 } from './schema/migration-1.js'
import { migration2 } from './schema/migration-2.js'
import { migration3 } from './schema/migration-3.js'
import { migration4 } from './schema/migration-4.js'
import { migration5 } from './schema/migration-5.js'
import { migration6 } from './schema/migration-6.js'
import { migration7 } from './schema/migration-7.js'
import { migration8 } from './schema/migration-8.js'
import { migration9 } from './schema/migration-9.js'
import { migration10 } from './schema/migration-10.js'
import { migration11 } from './schema/migration-11.js'
import { migration12 } from './schema/migration-12.js'

type Migration = (types: ColumnTypes, name: (table: string) => string) => string[]

/** All migrations, in order: the n-th one brings the schema to version n. One that was released never changes. */
const migrations: readonly Migration[] = [
  migration1,
  migration2,
  migration3,
  migration4,
  migration5,
  migration6,
  migration7,
  migration8,
  migration9,
  migration10,
  migration11,
  migration12,
]

/**
 * Runs the migrations that are missing, each in its own transaction under a lock, so that several processes may start at
 * once. On a current schema nothing is created: a role without the right to create may run it.
 * @throws Error When the schema is newer than this code.
 */
export async function migrate({ transaction, differences }: Engine): Promise<void> {
  if ((await transaction((db) => versionOf(db, differences))) === migrations.length) return
  for (let done = false; !done; ) done = await transaction((db) => migrateOnce(db, differences), { isLong: true })
}

async function migrateOnce(db: Connection, differences: Differences): Promise<boolean> {
  const { types, name } = differences
  await differences.beginMigration(db)
  const versions = sql.raw(name('schema_versions'))
  const version = await versionOf(db, differences)
  // CREATE TABLE IF NOT EXISTS asks for the right to create even where the table exists; a worker's role needs no such right.
  if (version === null)
    await sql`create table ${versions} (version ${sql.raw(types.integer)} not null primary key)`.execute(db)
  const done = version ?? 0
  const next = migrations[done]
  if (next === undefined) return true
  for (const statement of next(types, name)) await sql.raw(statement).execute(db)
  await sql`insert into ${versions} (version) values (${done + 1})`.execute(db)
  return done + 1 === migrations.length
}

/** The version of the schema; null where there is none. */
async function versionOf(db: Connection, differences: Differences): Promise<number | null> {
  if (!(await differences.hasTable(db, 'schema_versions'))) return null
  const versions = sql.raw(differences.name('schema_versions'))
  const { rows } = await sql<{ version: Integer | null }>`select max(version) as version from ${versions}`.execute(db)
  const version = integer(rows[0]?.version ?? 0)
  if (version > migrations.length)
    throw new Error(
      `The database has schema version ${version}, and this code knows ${migrations.length}; run the newer release.`,
    )
  return version
}
