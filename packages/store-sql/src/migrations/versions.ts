/** Reads and writes how far each schema version is migrated. @module */
import { StoreError } from '@payment-integration/core'
import { sql } from 'kysely'
import type { Connection, SqlDialect } from '../engine.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { baselineVersion } from './released.js'

/** The half of a migration that runs, or ran last. */
export type Phase = 'expand' | 'contract'

/** How far a version is. */
export interface VersionState {
  readonly version: number
  readonly phase: Phase
  /** Steps of the phase that are done. */
  readonly steps: number
  readonly isDone: boolean
  /** The highest id that the next step, a backfill, has changed. */
  readonly position: number
}

interface Row {
  version: Integer
  phase: Phase
  steps: Integer
  done: Integer
  position: Integer
}

const table = 'schema_versions'

/**
 * The versions that are migrated, or begun, in order.
 * @throws StoreError `ERR_STORE_SCHEMA` for a schema of a development release.
 */
export async function readVersions(db: Connection, dialect: SqlDialect): Promise<VersionState[]> {
  if (!(await dialect.hasTable(db, table))) return []
  const versions = sql.raw(dialect.name(table))
  // The tables of development releases have no other column.
  const { rows: known } = await sql<{ version: Integer }>`select version from ${versions}`.execute(db)
  const old = known.map(({ version }) => integer(version)).find((version) => version < baselineVersion)
  if (old !== undefined)
    throw new StoreError(
      'ERR_STORE_SCHEMA',
      `The database has schema version ${old} of a development release; start with an empty database.`,
    )
  const { rows } =
    await sql<Row>`select version, phase, steps, done, position from ${versions} order by version`.execute(db)
  return rows.map((row) => ({
    version: integer(row.version),
    phase: row.phase,
    steps: integer(row.steps),
    isDone: integer(row.done) === 1,
    position: integer(row.position),
  }))
}

/** Creates the table unless it is there. */
export async function createVersionTable(db: Connection, dialect: SqlDialect): Promise<void> {
  // CREATE TABLE IF NOT EXISTS needs the right to create even if the table exists; the role of a worker lacks it.
  if (await dialect.hasTable(db, table)) return
  const { integer: whole, code, tableOptions } = dialect.types
  await sql
    .raw(
      `create table ${dialect.name(table)} (version ${whole} not null primary key, phase ${code} not null,
       steps ${whole} not null, done ${whole} not null, position ${whole} not null)${tableOptions()}`,
    )
    .execute(db)
}

/** Stores how far a version is. */
export async function writeVersion(db: Connection, dialect: SqlDialect, state: VersionState): Promise<void> {
  const { version, phase, steps, isDone, position } = state
  await sql`insert into ${sql.raw(dialect.name(table))} (version, phase, steps, done, position)
    values (${version}, ${phase}, ${steps}, ${isDone ? 1 : 0}, ${position})
    on conflict (version) do update
    set phase = excluded.phase, steps = excluded.steps, done = excluded.done, position = excluded.position`.execute(db)
}
