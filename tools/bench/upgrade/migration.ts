/** The made-up migration of `snapshots`, and its removal. @module */
import pg from 'pg'
import { releasedMigrations } from '../../../packages/store-sql/src/migrations/released.js'
import type { Migration } from '../../../packages/store-sql/src/schema/migration.js'

const index = 'snapshots_bench_bytes'
const check = 'snapshots_bench_bytes_check'
const set = 'bench_bytes = octet_length(body)'

const next: Migration = {
  expand: [
    {
      kind: 'statements',
      about: 'add a nullable column',
      statements: ({ int }, name) => [`alter table ${name('snapshots')} add column bench_bytes ${int}`],
    },
    { kind: 'backfill', about: 'backfill the column', table: 'snapshots', set },
    { kind: 'index', about: 'make an index', index: { name: index, table: 'snapshots', columns: '(bench_bytes)' } },
    {
      kind: 'statements',
      about: 'add a check, not valid',
      statements: (_, name) => [
        `alter table ${name('snapshots')} add constraint ${check} check (bench_bytes >= 0) not valid`,
      ],
    },
    // A step of its own: in the transaction of the check it would keep that statement's lock.
    {
      kind: 'statements',
      about: 'validate the check',
      statements: (_, name) => [`alter table ${name('snapshots')} validate constraint ${check}`],
    },
  ],
  contract: [
    {
      kind: 'backfill',
      about: 'backfill rows of the last release',
      table: 'snapshots',
      set,
      where: 'bench_bytes is null',
    },
    {
      kind: 'statements',
      about: 'drop the column',
      statements: (_, name) => [`alter table ${name('snapshots')} drop column bench_bytes`],
    },
  ],
}

/** The released migrations and the made-up one. */
export const migrations: readonly Migration[] = [...releasedMigrations, next]

/** Removes the migration from a database that a former run kept. */
export async function removeMigration(connectionString: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query(`alter table "${schema}".snapshots drop column if exists bench_bytes`)
  await client.query(`delete from "${schema}".schema_versions where version > 100`)
  await client.query(`vacuum "${schema}".snapshots`)
  await client.end()
}
