/** The shape of a migration and of its steps, and the statement that creates a table. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * Gives statements, in order.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export type Statements = (types: ColumnTypes, name: (table: string) => string) => string[]

/** An index of a table. */
export interface IndexDefinition {
  readonly name: string
  readonly table: string
  /** Its columns in brackets, and its condition. */
  readonly columns: string
}

/** A step of a migration. `about` describes its effect for operators. */
export type Step =
  /** Statements that change no rows of large tables, in one transaction. They wait a second for locks at most. */
  | { readonly kind: 'statements'; readonly about: string; readonly statements: Statements }
  /** An index that is made while others write. */
  | { readonly kind: 'index'; readonly about: string; readonly index: IndexDefinition }
  /** A change of all rows, in batches of ascending ids, each a transaction. It continues where it was interrupted. */
  | {
      readonly kind: 'backfill'
      readonly about: string
      /** A table with the key `id`. */
      readonly table: string
      /** Assignments that may be repeated, such as `b = a + 1`. */
      readonly set: string
      /** A condition of the rows that it changes, such as `b is null`. @default all rows */
      readonly where?: string
    }

/**
 * From one schema version to the next, while processes of both releases run. All of `expand` happens before the first
 * process of the new release, and all of `contract` after the last one of the old release.
 */
export interface Migration {
  /** Steps that leave a schema which both releases read and write. */
  readonly expand: readonly Step[]
  /** Steps that remove what the old release alone needs. */
  readonly contract: readonly Step[]
}

/**
 * The statement that creates a table.
 * @param table - Its name, quoted.
 * @param columns - Its columns and constraints, as SQL text.
 * @param options.fill - See `ColumnTypes.tableOptions`.
 * @param options.segmentedBy - The key of a table in segments.
 */
export function createTable(
  types: ColumnTypes,
  table: string,
  columns: string,
  { fill, segmentedBy }: { readonly fill?: number; readonly segmentedBy?: string } = {},
): string {
  const segments = segmentedBy === undefined ? '' : types.segmentedBy(segmentedBy)
  return `create table ${table} (${columns})${segments}${types.tableOptions(fill)}`
}
