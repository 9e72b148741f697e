/** Rows of a statement as the server wrote them. @module */
import pg from 'pg'
import type { RawRows } from '../internal/row-view.js'

/** A statement with its values, and the name of its kept plan. */
export interface TextQuery {
  readonly text: string
  readonly values: unknown[]
  readonly name?: string
}

/**
 * A query whose rows are arrays of text, integers included, and never of bytes. For each statement `pg` looks up a
 * parser per column and builds a template of its rows, which costs more than a look-up by hash; none of that is needed
 * here. For clients of this very `pg` only: another version may speak to its queries in another way.
 */
class TextRowsQuery extends pg.Query {
  #columns: string[] = []
  readonly #values: (string | null)[][] = []

  static answer(query: TextRowsQuery): RawRows {
    return { columns: query.#columns, values: query.#values }
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly name: string }[] }): void {
    this.#columns = fields.map(({ name }) => name)
  }

  handleDataRow({ fields }: { readonly fields: (string | null)[] }): void {
    this.#values.push(fields)
  }
}

/** Sends a query and calls back once, with the error or with the rows. */
export function queryTextRows(
  client: pg.ClientBase,
  query: TextQuery,
  done: (error: Error | null | undefined, rows: RawRows) => void,
): void {
  const sent: TextRowsQuery = new TextRowsQuery(query, (error) => done(error, TextRowsQuery.answer(sent)))
  client.query(sent)
}
