/** A statement that is not waited for at once. @module */
import type { CompiledQuery, QueryId, QueryResult, RootOperationNode } from 'kysely'
import { PreparedQuery } from './prepared-query.js'

/**
 * A statement after which the next one may be sent before its answer has come. Where a connection can do so, its result
 * holds no rows and `later` resolves them. When it fails, so do all later statements of its transaction and its commit,
 * also where nobody asks for the rows.
 */
export class SentQuery implements CompiledQuery {
  readonly query: RootOperationNode
  readonly queryId: QueryId
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** The name of its plan, where a connection may keep that. */
  readonly name: string | undefined

  constructor(of: CompiledQuery) {
    this.query = of.query
    this.queryId = of.queryId
    this.sql = of.sql
    this.parameters = of.parameters
    this.name = of instanceof PreparedQuery ? of.name : undefined
  }
}

/** What came of a {@link SentQuery}. */
export interface SentResult<Row> extends QueryResult<Row> {
  readonly later?: Promise<Row[]>
}

/** Resolves the rows of a {@link SentQuery}. */
export async function rowsOf<Row>(result: SentResult<Row>): Promise<Row[]> {
  return result.later ?? result.rows
}
