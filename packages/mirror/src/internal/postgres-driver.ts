/** The driver `pg`. @module */
import type { Value } from './columns.js'
import type { Driver, Row } from './driver.js'

/** The used part of a pool or a client. */
interface Queryable {
  query(sql: string, values?: readonly Value[]): Promise<{ readonly rows: readonly Row[] }>
}

/** Any number that others do not use. */
const migrationLock = 5_021_984_734

/** Makes the driver. */
export function postgresDriver(database: Queryable): Driver {
  return {
    dialect: 'postgres',
    async query(sql, values = []) {
      let at = 0
      const numbered = sql.replaceAll('?', () => `$${++at}`)
      return (await database.query(numbered, values)).rows
    },
    async create(statements) {
      // A message of several statements is one transaction. Without the lock, two CREATE … IF NOT EXISTS can collide.
      await database.query([`SELECT pg_advisory_xact_lock(${migrationLock})`, ...statements].join(';\n'))
    },
  }
}
