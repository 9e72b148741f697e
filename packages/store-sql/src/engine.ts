/** The engine and the SQL dialect of a database. @module */
import type { Kysely, RawBuilder, Transaction } from 'kysely'
import type { RawRows } from './internal/row-view.js'
import type { ColumnTypes } from './schema/column-types.js'
import type { Integer } from './schema/integer.js'
import type { Tables } from './schema/tables.js'

/** The handle of a transaction, or of reads outside transactions. */
export type Connection = Kysely<Tables>

/** The column of a bulk statement. */
export interface BulkColumn {
  readonly name: string
  readonly type: 'integer' | 'real' | 'text'
}

/** Rows to insert. */
export interface BulkInsert {
  readonly table: string
  readonly columns: readonly (BulkColumn | { readonly name: string; readonly type: 'bytes' })[]
  /** Values in the order of the columns. */
  readonly rows: readonly (readonly unknown[])[]
  /**
   * More columns, with one SQL expression for all rows; `parameter` adds a value and returns its placeholder.
   */
  readonly fixed?: readonly { readonly name: string; value(parameter: Parameter): string }[]
  /** Whether the work continues before the answer; see `SentQuery`. @default false */
  readonly sends?: boolean
}

/** The result of an insert of rows with ids. */
export interface InsertedIds {
  /** The ids in the order of the rows; null when some rows were stored before. */
  readonly ids: readonly number[] | null
  /** Whether this insert added the row with an id. */
  isNew(id: number): boolean
}

/** Rows as the text of a table expression with its parameters. */
export interface BulkSource {
  readonly sql: string
  readonly parameters: unknown[]
}

/** Rows to change, each named by its id. */
export interface BulkUpdate {
  readonly table: string
  readonly columns: readonly BulkColumn[]
  /** More assignments, the same for each row, such as `n = n + 1`. */
  readonly fixed: readonly string[]
  /** Values in the order of the columns, then the id. */
  readonly rows: readonly (readonly unknown[])[]
}

/** Adds a value to a statement and returns its placeholder. */
export type Parameter = (value: unknown) => string

/** The lane of a delivery: 0 for first attempts, 1 for retries, 2 for replays. */
export type Lane = 0 | 1 | 2

/** A part of the integrations with pending deliveries in a lane, by address. */
export interface DueWalk {
  readonly lane: Lane
  /** Begins after this address. */
  readonly after: string
  /** Ends with this address. */
  readonly upTo: string
}

/** Which due deliveries to select. */
export interface DueQuery {
  readonly walks: readonly DueWalk[]
  /** Whether to select probes too. */
  readonly probes: boolean
  /** Most integrations of each part, and most probes. */
  readonly integrations: number
  /** Most deliveries of one integration and lane. */
  readonly each: number
  /** Ids to leave out. */
  readonly without: readonly number[]
}

/** The SQL that differs between the databases. */
export interface SqlDialect {
  readonly types: ColumnTypes
  /** Quotes a table's name, with its schema where there is one. */
  name(table: string): string
  /** The time of leases in unix milliseconds: a parameter, or an expression over the database's clock. */
  now(): RawBuilder<number>
  /** The same for a statement built as text; `parameter` adds a value and returns its placeholder. */
  nowText(parameter: Parameter): string
  /**
   * The same, but one time for all statements of a transaction. A delivery that the transaction makes due at the end of
   * a lease is not due for the transaction itself.
   */
  moment(): (parameter: Parameter) => string
  /** Appended to a select to lock its rows. */
  readonly forUpdate: RawBuilder<unknown>
  /** Text appended to a select to lock its rows of one table. */
  lockRows(table: string): string
  /**
   * Limits the wait of the transaction for rows that other transactions have locked, in milliseconds. After it the
   * transaction fails as busy.
   */
  waitAtMost(db: Connection, ms: number): Promise<void>
  /** Text appended to a select to lock its rows of one table and skip those locked by others. */
  skipLocked(table: string): string
  /** A condition: the column is one of these integers or texts. */
  oneOf(column: string, type: 'integer' | 'text', values: readonly unknown[], parameter: Parameter): string
  /** The expression that reads a column of bytes, for {@link bytesOf}. */
  bytesText(column: string): string
  /** The bytes of that expression's value. */
  bytesOf(read: Uint8Array | string): Uint8Array
  /** Rows as a table expression. */
  bulkSource(columns: readonly BulkColumn[], rows: readonly (readonly unknown[])[]): BulkSource
  /** The placeholder of the n-th parameter, from 1. */
  placeholder(n: number): string
  /** How many of the `left` rows, of that many columns, the next statement takes. */
  bulkRows(left: number, columns: number): number
  /** Inserts rows, in their order. */
  insertAll(db: Connection, insert: BulkInsert): Promise<void>
  /** Changes rows by their id. */
  updateAll(db: Connection, update: BulkUpdate): Promise<void>
  /**
   * Inserts rows and lets the database assign ids.
   * @param unlessThere - Columns of a key; rows whose key is stored are left out. The keys of the rows are distinct.
   * @returns Their ids in the order of the rows if all were inserted; else a test for the inserted ids.
   */
  insertNumbered(db: Connection, insert: Omit<BulkInsert, 'sends'>, unlessThere?: string): Promise<InsertedIds>
  /**
   * A select of the longest due deliveries of each integration that may be notified. Its columns are `id`, `due_at`,
   * `integration`, `lane`, `notification_url` and `probe`. `probe` is 1 for a blocked integration that may be probed:
   * its longest due first attempt and retry. The cost is the same at any backlog: an index search for each integration
   * with pending deliveries in the lane.
   *
   * @param now - The time, as text.
   */
  due(query: DueQuery, now: string, parameter: Parameter): string
  /** The number of pending deliveries of the same integrations, counted up to `atMost`. */
  pending(atMost: number): RawBuilder<{ pending: Integer }>
  /** Locks the writing of a chain's blocks, exclusively or shared, until the transaction ends. */
  lockChain(db: Connection, chainId: number, mode: 'exclusive' | 'shared'): Promise<void>
  /** Locks the audit log until the transaction ends. */
  lockAudit(db: Connection): Promise<void>
  /** Locks the migration until the transaction ends, and creates the schema. */
  beginMigration(db: Connection): Promise<void>
  /** Whether a table of the store exists. */
  hasTable(db: Connection, table: string): Promise<boolean>
}

/**
 * The name of a prepared statement, made from its text; undefined: the statement is planned each time.
 */
export interface NamedQuery {
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly name?: string | undefined
}

/** Options of a transaction. */
export interface TransactionOptions {
  /**
   * False: a loss of power may undo it, and nothing else. A later durable commit makes it durable too.
   * @default true
   */
  readonly durable?: boolean
  /**
   * Whether it begins with a read and reads by index alone. The read is sent before BEGIN is answered, and its
   * statements may use plans that were made without values.
   * @default false
   */
  readonly searches?: boolean
  /** Whether it has no time limit, like a migration of a large table. @default false */
  readonly isLong?: boolean
}

/** An open database. */
export interface Engine {
  readonly dialect: SqlDialect
  /** For reads outside a transaction: they see committed rows only. */
  readonly read: Connection
  /** Runs one statement like `read`, without the cost of a query builder. */
  rows(query: NamedQuery): Promise<RawRows>
  /** Runs `work` in one transaction. After a conflict it retries a limited number of times. */
  transaction<T>(work: (db: Transaction<Tables>) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Announces to other processes soon, if the database can, that deliveries became due. Never fails. */
  announceDue(): void
  /** Calls `listener` after an announcement of any process. Returns a function that stops it. */
  whenDue(listener: () => void): () => void
  close(): Promise<void>
}
