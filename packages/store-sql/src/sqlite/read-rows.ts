/** Reads the rows of a statement. @module */
import type { RawRows } from '../internal/row-view.js'
import type { SqliteStatement } from './binding.js'

/** The two ways to read the rows of a statement. */
export interface RowReader {
  /** Plain objects. */
  objects(parameters: readonly unknown[]): unknown[]
  raw(parameters: readonly unknown[]): RawRows
  /** Reads no row, and returns the number of written rows. */
  run(parameters: readonly unknown[]): number
}

/**
 * Reads a statement's rows. If the binding can return arrays, the objects are built here: a property set from native
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
    // After another connection's change of the schema, a `*` may return more columns.
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

/** Null if the binding does not report them, or the statement returns no rows. */
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
