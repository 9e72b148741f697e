/** Reads rows of arrays by the names of their columns. @module */

/** The rows of a statement: the names of its columns, and the values of each row in that order. */
export interface RawRows {
  /** May be empty when there is no row. */
  readonly columns: readonly string[]
  readonly values: readonly (readonly unknown[])[]
}

/**
 * Makes a row of an array: an object with a getter for each column and no own property. A page has 50 rows of 30
 * columns; copying each row into an object costs more than the rest of the read. Read such a row field by field, never
 * spread it.
 *
 * @param names - The columns, in the order of the arrays.
 */
export function rowView(names: readonly string[]): (values: readonly unknown[]) => object {
  const key = names.join()
  const known = views.get(key) ?? makeView(names)
  views.set(key, known)
  return known
}

// Statements with the same columns share a view: code that reads many row types is several times slower.
const views = new Map<string, (values: readonly unknown[]) => object>()

function makeView(names: readonly string[]): (values: readonly unknown[]) => object {
  class Row {
    readonly #values: readonly unknown[]
    constructor(values: readonly unknown[]) {
      this.#values = values
    }
    static read(row: Row, index: number): unknown {
      return row.#values[index]
    }
  }
  for (const [index, name] of names.entries())
    Object.defineProperty(Row.prototype, name, {
      get(this: Row) {
        return Row.read(this, index)
      },
    })
  return (values) => new Row(values)
}
