/** Runs one statement at a time on either kind of database. @module */
import type { Dialect } from '../table-options.js'
import type { Value } from './columns.js'

/** A row as drivers give it. */
export type Row = Readonly<Record<string, unknown>>

/** A database behind one shape. */
export interface Driver {
  readonly dialect: Dialect
  /** Runs a statement with a `?` for each value, by itself: it is stored whole or not at all. */
  query(sql: string, values?: readonly Value[]): Promise<readonly Row[]>
  /** Runs statements that create tables, one mirror at a time. */
  create(statements: readonly string[]): Promise<void>
}
