/** Rows as they came, read by the names of their columns. @module */

/** What a statement answered: the names of its columns, and the values of each row in their order. */
export interface RawRows {
  /** May be empty when there is no row. */
  readonly columns: readonly string[]
  readonly values: readonly (readonly unknown[])[]
}

/**
 * Makes rows of arrays: an object with a getter for each column and no property of its own. A page has 50 rows of 30
 * columns, and copying each into an object costs more than the rest of reading it. Such a row is read field by field,
 * never spread.
 *
 * @param names - The columns, in the order of the arrays.
 */
export function rowView(names: readonly string[]): (values: readonly unknown[]) => object {
  const key = names.join()
  const known = views.get(key) ?? makeView(names)
  views.set(key, known)
  return known
}

// Statements with the same columns share a view: code that reads rows of many kinds is several times as slow.
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
