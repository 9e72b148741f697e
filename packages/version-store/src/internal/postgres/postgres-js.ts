/** The driver postgres.js. It commits when the work is done, and rolls back after any failed statement. @module */
import { type PostgresDriver, type Row, sealed } from './driver.js'

interface Sql {
  (pieces: TemplateStringsArray, ...values: readonly string[]): PromiseLike<readonly Row[]>
  begin<Result>(options: string, work: (tx: Transaction) => Promise<Result>): Promise<Result>
}

interface Transaction {
  (pieces: TemplateStringsArray, ...values: readonly string[]): PromiseLike<readonly Row[]>
  savepoint<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>
}

/** Makes the driver. */
export function postgresJsDriver(sql: Sql): PostgresDriver<Transaction> {
  const query: PostgresDriver<Transaction>['query'] = async (tx, { statement, values }) =>
    (tx ?? sql)(statement.pieces, ...values)
  return {
    // postgres.js 3.4 reconnects inside an ended transaction and runs its rest elsewhere: porsager/postgres 1155, 1215.
    survivesIdleTimeout: false,
    query,
    transaction: (first, work) => sql.begin('isolation level read committed', (tx) => sealed(query, tx, first, work)),
    nested: (outer, first, work) => outer.savepoint((tx) => sealed(query, tx, first, work)),
  }
}
