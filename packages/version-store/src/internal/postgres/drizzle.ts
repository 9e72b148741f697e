/** The query builder Drizzle, over any of its PostgreSQL drivers. @module */
import type { DrizzleSql } from '../../postgres-database.js'
import { type PostgresDriver, type Row, sealed } from './driver.js'

interface Database {
  execute(query: unknown): PromiseLike<readonly Row[] | { readonly rows: readonly Row[] }>
  transaction<Result>(
    work: (tx: Database) => Promise<Result>,
    config?: { readonly isolationLevel: 'read committed' },
  ): Promise<Result>
}

/** Makes the driver. Each driver below Drizzle gives rows in its own way. */
export function drizzleDriver(database: Database, sql: DrizzleSql): PostgresDriver<Database> {
  const query: PostgresDriver<Database>['query'] = async (tx, { statement, values }) => {
    const result = await (tx ?? database).execute(sql(statement.pieces, ...values))
    return 'rows' in result ? result.rows : result
  }
  return {
    survivesIdleTimeout: false,
    query,
    transaction: (first, work) =>
      database.transaction((tx) => sealed(query, tx, first, work), { isolationLevel: 'read committed' }),
    nested: (outer, first, work) => outer.transaction((tx) => sealed(query, tx, first, work)),
  }
}
