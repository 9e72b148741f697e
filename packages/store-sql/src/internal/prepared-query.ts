/** Names prepared statements. @module */
import { createHash } from 'node:crypto'
import { CompiledQuery, type QueryId, type RootOperationNode } from 'kysely'
import { remember } from './remember.js'

/** A statement with a name made from its text. */
export class PreparedQuery implements CompiledQuery {
  readonly query: RootOperationNode
  readonly queryId: QueryId
  readonly sql: string
  readonly parameters: readonly unknown[]
  constructor(sql: string, parameters: readonly unknown[]) {
    const { query, queryId } = CompiledQuery.raw(sql)
    this.query = query
    this.queryId = queryId
    this.sql = sql
    this.parameters = parameters
  }

  get name(): string {
    return statementName(this.sql).name
  }
}

/** The name of a prepared statement: the same for the same text. */
export const statementName = remember((sql) => ({ name: createHash('sha256').update(sql).digest('base64url') }))
