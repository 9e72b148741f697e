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
export interface CrashGround {
  readonly database: CrashDatabase
  open(): Store
  /** The attempt log, by delivery and number, without the product. */
  attempts(): Promise<LoggedAttempt[]>
  remove(): Promise<void>
}

const query = (prefix: string) =>
  `select a.delivery_id, a.number, coalesce(q.attempted, max(a.number) over (partition by a.delivery_id)) as attempted
   from ${prefix}attempts a join ${prefix}snapshots d on d.id = a.delivery_id left join ${prefix}outbox q on q.id = d.id
   order by a.delivery_id, a.number`

interface AttemptRow {
  readonly delivery_id: number | string
  readonly number: number | string
  readonly attempted: number | string
}

const logged = (row: AttemptRow): LoggedAttempt => ({
  deliveryId: String(row.delivery_id),
  number: Number(row.number),
  attempted: Number(row.attempted),
})

/** A file in a separate folder. */
export async function sqliteGround(): Promise<CrashGround> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-crash-'))
  const path = join(folder, 'payments.db')
  return {
    database: { kind: 'sqlite', path },
    open: () => createSqliteStore({ path }),
    async attempts() {
      const Database = await loadSqlite()
      const file = new Database(path, { readOnly: true })
      const rows = file.prepare(query('')).all() as AttemptRow[]
      file.close()
      return rows.map(logged)
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** A schema of a server. @param throughProxy - The address that the processes use, when it differs. */
export function postgresGround(
  connectionString: string,
  schema: string,
  throughProxy: string = connectionString,
): CrashGround {
  return {
    database: { kind: 'postgres', connectionString: throughProxy, schema },
    open: () => createPostgresStore({ connectionString, schema, maxConnections: 4 }),
    async attempts() {
      const client = new pg.Client({ connectionString })
      await client.connect()
      const { rows } = await client.query<AttemptRow>(query(`${schema}.`))
      await client.end()
      return rows.map(logged)
    },
    async remove() {
      const client = new pg.Client({ connectionString })
      await client.connect()
      await client.query(`drop schema if exists ${schema} cascade`)
      await client.end()
    },
  }
}
