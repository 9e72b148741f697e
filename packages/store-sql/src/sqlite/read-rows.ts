/** The rows of a statement. @module */
import type { RawRows } from '../internal/row-view.js'
import type { SqliteStatement } from './binding.js'

/** The two ways to read the rows of a statement. */
export interface RowReader {
  /** Plain objects. */
  objects(parameters: readonly unknown[]): unknown[]
  raw(parameters: readonly unknown[]): RawRows
  /** Reads none, and tells how many rows the statement wrote. */
  run(parameters: readonly unknown[]): number
}

/**
 * Reads a statement's rows. Where the binding can answer arrays the objects are made here: a property set from native
 * code costs more than reading the value, and a page has 1,500 of them.
 */
export function readRowsOf(statement: SqliteStatement): RowReader {
  let columns = columnNames(statement)
  const run = (parameters: readonly unknown[]) => Number(statement.run(...parameters).changes)
  if (columns === null) {
    const objects = (parameters: readonly unknown[]) => statement.all(...parameters) as object[]
    return {
      objects,
      run,
      raw(parameters) {
        const rows = objects(parameters)
        return { columns: Object.keys(rows[0] ?? {}), values: rows.map(Object.values) }
      },
    }
  }
  statement.setReturnArrays?.(true)
  const rows = (parameters: readonly unknown[]): { names: readonly string[]; values: unknown[][] } => {
    const values = statement.all(...parameters) as unknown[][]
    // A statement follows another connection's change of the schema when it runs: a `*` may have more columns by then.
    if (values[0] !== undefined && values[0].length !== columns?.length) columns = columnNames(statement)
    return { names: columns ?? [], values }
  }
  return {
    objects(parameters) {
      const { names, values } = rows(parameters)
      return values.map((each) => toObject(names, each))
    },
    raw(parameters) {
      const { names, values } = rows(parameters)
      return { columns: names, values }
    },
    run,
  }
}

/** Null where the binding does not tell them, or the statement answers nothing. */
function columnNames(statement: SqliteStatement): string[] | null {
  if (statement.setReturnArrays === undefined || statement.columns === undefined) return null
  const names = statement.columns().map(({ name }) => name ?? '')
  return names.length === 0 ? null : names
}

function toObject(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (let index = 0; index < names.length; index += 1) row[names[index] ?? ''] = values[index]
  return row
}
