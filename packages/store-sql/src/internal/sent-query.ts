/** Sends a statement without waiting for its answer. @module */
import type { CompiledQuery, QueryId, QueryResult, RootOperationNode } from 'kysely'
import { PreparedQuery } from './prepared-query.js'

/**
 * A statement after which the next one may be sent before the answer. If the connection supports it, the result has no
 * rows and `later` resolves them. After a failure all later statements of the transaction and its commit fail, even if
 * its rows are never read.
 */
export class SentQuery implements CompiledQuery {
  readonly query: RootOperationNode
  readonly queryId: QueryId
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly #of: CompiledQuery

  constructor(of: CompiledQuery) {
    this.query = of.query
    this.queryId = of.queryId
    this.sql = of.sql
    this.parameters = of.parameters
    this.#of = of
  }

  /** The name of its prepared statement, if it has one. */
  get name(): string | undefined {
    return this.#of instanceof PreparedQuery ? this.#of.name : undefined
  }
}

/** The result of a {@link SentQuery}. */
export interface SentResult<Row> extends QueryResult<Row> {
  readonly later?: Promise<Row[]>
}

/** Resolves the rows of a {@link SentQuery}. */
export async function rowsOf<Row>(result: SentResult<Row>): Promise<Row[]> {
  return result.later ?? result.rows
}
