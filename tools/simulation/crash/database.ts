/** The databases of crash tests: the product reads them, and plain SQL counts. @module */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import pg from 'pg'
import { loadSqlite } from '../../../packages/store-sql/src/sqlite/sqlite-file.js'
import type { CrashDatabase } from './process-config.js'

/** A row of the attempt log and of its delivery. */
export interface LoggedAttempt {
  readonly deliveryId: string
  readonly number: number
  /** Attempts of the delivery by its outbox row; without a row, the highest number in the log. */
  readonly attempted: number
}

/** A database that is removed after the seed. */
export interface SeedDatabase {
  readonly database: CrashDatabase
  open(): Store
  /** The attempt log, by delivery and number, without the product. */
  attempts(): Promise<LoggedAttempt[]>
  remove(): Promise<void>
}

const buildQuery = (prefix: string) =>
  `select a.delivery_id, a.number, coalesce(q.attempted, max(a.number) over (partition by a.delivery_id)) as attempted
   from ${prefix}attempts a join ${prefix}snapshots d on d.id = a.delivery_id left join ${prefix}outbox q on q.id = d.id
   order by a.delivery_id, a.number`

interface AttemptRow {
  readonly delivery_id: number | string
  readonly number: number | string
  readonly attempted: number | string
}

const toLoggedAttempt = (row: AttemptRow): LoggedAttempt => ({
  deliveryId: String(row.delivery_id),
  number: Number(row.number),
  attempted: Number(row.attempted),
})

/** Makes a database in a file, whose folder is removed with it. */
export async function createSqliteDatabase(): Promise<SeedDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-crash-'))
  const path = join(folder, 'payments.db')
  return {
    database: { kind: 'sqlite', path },
    open: () => createSqliteStore({ path }),
    async attempts() {
      const Database = await loadSqlite()
      const file = new Database(path, { readOnly: true })
      const rows = file.prepare(buildQuery('')).all() as AttemptRow[]
      file.close()
      return rows.map(toLoggedAttempt)
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Makes a database in a schema of a server. @param throughProxy - The address for the processes, if it differs. */
export function createPostgresDatabase(
  connectionString: string,
  schema: string,
  throughProxy: string = connectionString,
): SeedDatabase {
  return {
    database: { kind: 'postgres', connectionString: throughProxy, schema },
    open: () => createPostgresStore({ connectionString, schema, maxConnections: 4 }),
    async attempts() {
      const client = new pg.Client({ connectionString })
      await client.connect()
      const { rows } = await client.query<AttemptRow>(buildQuery(`${schema}.`))
      await client.end()
      return rows.map(toLoggedAttempt)
    },
    async remove() {
      const client = new pg.Client({ connectionString })
      await client.connect()
      await client.query(`drop schema if exists ${schema} cascade`)
      await client.end()
    },
  }
}
