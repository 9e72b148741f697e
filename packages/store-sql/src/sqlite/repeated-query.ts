/** A statement that runs once for each of many rows. @module */
import { CompiledQuery, type QueryId, type RootOperationNode } from 'kysely'

/**
 * One prepared statement and the rows to run it with. In SQLite that costs half as much as one statement with many
 * rows: binding its thousands of parameters takes longer than the saved calls.
 */
export class RepeatedQuery implements CompiledQuery {
  readonly query: RootOperationNode
  readonly queryId: QueryId
  readonly sql: string
  readonly parameters: readonly unknown[] = []
  /** The parameters of each run. */
  readonly rows: readonly (readonly unknown[])[]

  constructor(sql: string, rows: readonly (readonly unknown[])[]) {
    const { query, queryId } = CompiledQuery.raw(sql)
    this.query = query
    this.queryId = queryId
    this.sql = sql
    this.rows = rows
  }
}
