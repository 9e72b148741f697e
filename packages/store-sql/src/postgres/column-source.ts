/** Formats rows as one parameter per column. @module */
import type { BulkColumn, BulkInsert } from '../engine.js'
import { arrayLiteral, bytesLiteral } from './array-literal.js'

const types = { integer: 'bigint', real: 'double precision', text: 'text', hex: 'bytea', bytes: 'bytea' } as const

/** Rows as a table expression, and the expressions that are its columns. */
export interface ColumnSource {
  readonly values: string[]
  /** A table expression with one row for each given row, in their order. */
  readonly source: string
  readonly parameters: unknown[]
}

/**
 * Formats rows by column. A column with one value in all rows, frequent in the payments of one range, is a single
 * value, unless the text must stay the same. Bytes are one parameter with the offset of each value.
 */
export function columnSource(
  { columns, keepsText = false }: Pick<BulkInsert, 'columns' | 'keepsText'>,
  rows: BulkInsert['rows'],
): ColumnSource {
  const parameters: unknown[] = []
  const arrays: string[] = []
  const parameter = (value: unknown) => `$${parameters.push(value)}`
  const addArray = (type: BulkColumn['type'], column: readonly unknown[]) => {
    arrays.push(`${parameter(arrayLiteral(column, type))}::${types[type]}[]`)
    return `v.c${arrays.length}`
  }
  const values = columns.map(({ type }, index) => {
    const column = rows.map((row) => row[index])
    if (type === 'bytes') {
      const bodies = column as readonly Uint8Array[]
      let end = 1
      const starts = bodies.map(({ length }) => {
        end += length
        return end - length
      })
      const all = parameter(Buffer.concat(bodies))
      const start = addArray('integer', starts)
      const length = addArray(
        'integer',
        bodies.map((body) => body.length),
      )
      return `substring(${all}::bytea from ${start}::int for ${length}::int)`
    }
    // The first column is always an array, which gives the number of rows.
    if (index > 0 && !keepsText && column.every((value) => value === column[0]))
      return `${parameter(type === 'hex' ? bytesLiteral(column[0]) : column[0])}::${types[type]}`
    return addArray(type, column)
  })
  const names = arrays.map((_, index) => `c${index + 1}`).join(', ')
  return { values, source: `unnest(${arrays.join(', ')}) as v (${names})`, parameters }
}
