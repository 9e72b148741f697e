/** Brings the schema of a database up to date. @module */
import { StoreError } from '@payment-integration/core'
import { sql } from 'kysely'
import type { Connection, Engine, SqlDialect } from './engine.js'
import { integer } from './internal/values.js'
import { baseline } from './schema/baseline/baseline.js'
import type { Integer } from './schema/integer.js'
import type { Migration } from './schema/migration.js'

/** The schema version of the first release. Development schemas were numbered below. */
const baselineVersion = 100

/** All migrations, in order: the first brings an empty database to version 100, the next to 101, and so on. */
export const releasedMigrations: readonly Migration[] = [baseline]

/**
 * Runs the missing migrations, each in its own transaction under a lock: several processes may start at once.
 * On a current schema nothing is created: a role without the right to create may run it.
 * @param migrations - Tests pass their own.
 * @throws StoreError `ERR_STORE_SCHEMA` when a development release made the schema.
 * @throws Error When the schema is newer than this code.
 */
export async function migrate(
  { transaction, dialect }: Engine,
  migrations: readonly Migration[] = releasedMigrations,
): Promise<void> {
  const newest = baselineVersion + migrations.length - 1
  if ((await transaction((db) => versionOf(db, dialect, newest))) === newest) return
  const step = (db: Connection) => migrateOnce(db, dialect, migrations)
  for (let done = false; !done; ) done = await transaction(step, { isLong: true })
}

/** Runs the next migration. Resolves whether the schema is current afterwards. */
async function migrateOnce(db: Connection, dialect: SqlDialect, migrations: readonly Migration[]): Promise<boolean> {
  const { types, name } = dialect
  const newest = baselineVersion + migrations.length - 1
  await dialect.beginMigration(db)
  const versions = sql.raw(name('schema_versions'))
  const version = await versionOf(db, dialect, newest)
  // CREATE TABLE IF NOT EXISTS needs the right to create even if the table exists; the role of a worker lacks it.
  if (version === null)
    await sql`create table ${versions} (version ${sql.raw(types.integer)} not null primary key)`.execute(db)
  const next = version === null ? baselineVersion : version + 1
  const migration = migrations[next - baselineVersion]
  if (migration === undefined) return true
  for (const statement of migration(types, name)) await sql.raw(statement).execute(db)
  await sql`insert into ${versions} (version) values (${next})`.execute(db)
  return next === newest
}

/** The version of the schema; null without a schema. Rejects unknown versions. */
async function versionOf(db: Connection, dialect: SqlDialect, newest: number): Promise<number | null> {
  if (!(await dialect.hasTable(db, 'schema_versions'))) return null
  const versions = sql.raw(dialect.name('schema_versions'))
  const { rows } = await sql<{ version: Integer | null }>`select max(version) as version from ${versions}`.execute(db)
  const version = integer(rows[0]?.version ?? 0)
  if (version > newest)
    throw new Error(`The database has schema version ${version}, and this code knows ${newest}; run the newer release.`)
  if (version < baselineVersion)
    throw new StoreError(
      'ERR_STORE_SCHEMA',
      `The database has schema version ${version} of a development release; start with an empty database.`,
    )
  return version
}
