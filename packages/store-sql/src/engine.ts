/** What the store needs from a database, and the few places where the two databases differ. @module */
import type { Kysely, RawBuilder, Transaction } from 'kysely'
import type { RawRows } from './internal/row-view.js'
import type { ColumnTypes } from './schema/column-types.js'
import type { Integer, Tables } from './schema/tables.js'

/** A transaction's handle, or the one for reads outside of any. */
export type Connection = Kysely<Tables>

/** The column of a bulk statement. */
export interface BulkColumn {
  readonly name: string
  readonly type: 'integer' | 'text'
}

/** Rows to insert. */
export interface BulkInsert {
  readonly table: string
  readonly columns: readonly (BulkColumn | { readonly name: string; readonly type: 'bytes' })[]
  /** Values in the order of the columns. */
  readonly rows: readonly (readonly unknown[])[]
  /** Further columns, with the same SQL expression in each row; `parameter` adds a value and returns its placeholder. */
  readonly fixed?: readonly { readonly name: string; value(parameter: (value: unknown) => string): string }[]
}

/** What an insert of payments came to. */
export interface InsertedIds {
  /** Of each row, in their order; null when some were stored before. */
  readonly ids: readonly number[] | null
  /** Whether the payment with an id was inserted just now. */
  isNew(id: number): boolean
}

/** Rows as the text of a table expression with its parameters. */
export interface BulkSource {
  readonly sql: string
  readonly parameters: unknown[]
}

/** A delivery that may be due for claiming, with its place in the order. */
export interface DueDelivery {
  readonly id: number | string
  readonly due_at: number | string
}

/** Which due deliveries to look at. */
export interface DueQuery {
  readonly lane: 0 | 1
  /** Only deliveries after this place in the order (due_at, id). */
  readonly after: { readonly dueAt: number; readonly id: number }
  readonly limit: number
}

/** SQL that is not the same on both databases. */
export interface Differences {
  readonly types: ColumnTypes
  /** Quotes a table's name, with its schema where there is one. */
  name(table: string): string
  /** The time of leases in unix milliseconds: a parameter, or an expression over the database's clock. */
  now(): RawBuilder<number>
  /** The same for a statement built as text; `parameter` adds a value and returns its placeholder. */
  nowText(parameter: (value: unknown) => string): string
  /** Appended to a select whose rows are then changed. */
  readonly forUpdate: RawBuilder<unknown>
  /** Text that is appended to a select whose rows of a table are then changed. */
  lockRows(table: string): string
  /** Appended to a select over `d` that takes the rows nobody else holds. */
  readonly forUpdateSkipLocked: RawBuilder<unknown>
  /** Rows as a table expression. */
  bulkSource(columns: readonly BulkColumn[], rows: readonly (readonly unknown[])[]): BulkSource
  /** The placeholder of the n-th parameter, from 1. */
  placeholder(n: number): string
  /** How many of the `left` rows of that many columns the next statement carries. */
  bulkRows(left: number, columns: number): number
  /** Inserts rows, in their order. */
  insertAll(db: Connection, insert: BulkInsert): Promise<void>
  /**
   * Inserts payments that are not stored under their key, which no two of the rows share.
   * @returns Their ids in the order of the rows, when all were inserted; else a way to tell the ids of those that were.
   */
  insertPayments(db: Connection, insert: BulkInsert): Promise<InsertedIds>
  /** Due deliveries of integrations that may be notified, in the order (due_at, id). Costs the same at any backlog. */
  due(query: DueQuery): RawBuilder<DueDelivery>
  /** The number of pending deliveries of the same integrations, counted up to `atMost`. */
  pending(atMost: number): RawBuilder<{ pending: Integer }>
  /** Takes, or shares, the right to write a chain's blocks, until the transaction ends. */
  lockChain(db: Connection, chainId: number, mode: 'exclusive' | 'shared'): Promise<void>
  /** Keeps other processes from migrating until the transaction ends, and makes the schema. */
  beginMigration(db: Connection): Promise<void>
  /** Whether a table of the store is there. */
  hasTable(db: Connection, table: string): Promise<boolean>
}

/** A statement that a connection may keep with its plan, under a name made from its text; undefined: it is planned each time. */
export interface NamedQuery {
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly name?: string | undefined
}

/** An open database. */
export interface Engine {
  readonly differences: Differences
  /** For reads outside a transaction: they see committed rows only. */
  readonly read: Connection
  /** Runs one statement as `read` does, without a query builder's way to it. */
  rows(query: NamedQuery): Promise<RawRows>
  /** Runs `work` in one transaction; again, a bounded number of times, when the database reports a conflict. */
  transaction<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>
  close(): Promise<void>
}
