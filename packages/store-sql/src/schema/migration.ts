/** The shape of a migration, and the statement that creates a table. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * Gives the statements of a migration, or of a part of one, in order.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export type Migration = (types: ColumnTypes, name: (table: string) => string) => string[]

/**
 * The statement that creates a table.
 * @param table - Its name, quoted.
 * @param columns - Its columns and constraints, as SQL text.
 * @param fill - See `ColumnTypes.tableOptions`.
 */
export function createTable(types: ColumnTypes, table: string, columns: string, fill?: number): string {
  return `create table ${table} (${columns})${types.tableOptions(fill)}`
}
