/** Reads the rows of a statement as text, unparsed. @module */
import pg from 'pg'
import type { RawRows } from '../internal/row-view.js'

/** A statement with its values, and its name if it is prepared. */
export interface TextQuery {
  readonly text: string
  readonly values: unknown[]
  readonly name?: string
}

/**
 * A query whose rows are arrays of text, integers included, and never of bytes. It skips two costs of `pg`: a parser
 * per column, and a template of the rows, which cost more than a look-up by hash. For clients of this package's own
 * `pg` only: another version may call its queries differently.
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
