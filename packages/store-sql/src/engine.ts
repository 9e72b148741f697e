/** The database as the store uses it, and the few places where the two databases differ. @module */
import type { DatabaseSnapshot } from '@payment-integration/core/internal'
import type { Kysely, RawBuilder, Transaction } from 'kysely'
import type { RawRows } from './internal/values.js'
import type { ColumnTypes, IndexDefinition, Integer } from './schema/migration.js'
import type { SegmentIds } from './schema/partitions.js'
import type { Tables } from './schema/tables.js'

/** A transaction's handle, or the one for reads outside of any. */
export type Connection = Kysely<Tables>

export interface BulkColumn {
  readonly name: string
  /** `hex` is `0x` text here and bytes in the database. */
  readonly type: 'integer' | 'real' | 'text' | 'hex'
}

export interface BulkInsert {
  readonly table: string
  readonly columns: readonly (BulkColumn | { readonly name: string; readonly type: 'bytes' })[]
  /** Values in the order of the columns. */
  readonly rows: readonly (readonly unknown[])[]
  /**
   * Further columns, with the same SQL expression in each row; `parameter` adds a value and returns its placeholder.
   */
  readonly fixed?: readonly { readonly name: string; value(parameter: Parameter): string }[]
  /** Whether the work goes on before the answer; see `SentQuery`. @default false */
  readonly sends?: boolean
  /** Whether its text is the same for all rows, so that a transaction that `searches` keeps it. @default false */
  readonly keepsText?: boolean
}

export interface InsertedIds {
  /** Of each row, in their order; null when some were stored before. */
  readonly ids: readonly number[] | null
  /** Whether the row with an id was inserted just now. */
  isNew(id: number): boolean
}

/** Rows as the text of a table expression with its parameters. */
export interface BulkSource {
  readonly sql: string
  readonly parameters: unknown[]
}

export interface BulkUpdate {
  readonly table: string
  readonly columns: readonly BulkColumn[]
  /** Further assignments, the same for each row, such as `n = n + 1`. */
  readonly fixed: readonly string[]
  /** Values in the order of the columns, then the id. */
  readonly rows: readonly (readonly unknown[])[]
}

/** Adds a value to a statement and returns its placeholder. */
export type Parameter = (value: unknown) => string

/** The lane of a delivery: 0 for first attempts, 1 for retries, 2 for replays. */
export type Lane = 0 | 1 | 2

/** A range of the integrations with deliveries in a lane, by address. */
export interface DueScan {
  readonly lane: Lane
  /** Begins after this address; '' begins with the first one. */
  readonly after: string
  readonly upTo: string
}

export interface DueQuery {
  readonly scans: readonly DueScan[]
  readonly probes: boolean
  /** The limit of integrations of each scan, and of probes. */
  readonly integrations: number
  /** The limit of deliveries of one integration and lane. */
  readonly each: number
  readonly without: readonly number[]
}

export interface IndexRange {
  readonly value: unknown
  readonly from: number
  readonly upTo: number
}

/** The tables of segments, where each has its own. */
export interface Partitions {
  /** Creates the tables of a segment unless they are there. */
  add(db: Connection, segment: SegmentIds): Promise<void>
  /**
   * Gives new deliveries ids from this one on, at once. It waits for those who write, and they for it: they could
   * not see the segment's table yet.
   */
  beginIds(db: Connection, first: number): Promise<void>
  empty(db: Connection, number: number): Promise<void>
  drop(db: Connection, number: number): Promise<void>
}

/** What a lock protects: the blocks of a chain, the audit log, or the steps of a migration. */
export type LockName = `chain ${number}` | 'audit' | 'schema'

/** SQL that is not the same on both databases. */
export interface SqlDialect {
  readonly types: ColumnTypes
  /** Quotes a table's name, with its schema where there is one. */
  name(table: string): string
  /** The time of leases in unix milliseconds: a parameter, or an expression over the database's clock. */
  now(): RawBuilder<number>
  /** The same for a statement built as text; `parameter` adds a value and returns its placeholder. */
  nowText(parameter: Parameter): string
  /** One time in all statements of a transaction: what it makes due at the end of a lease is not due to it. */
  moment(): (parameter: Parameter) => string
  /** Appended to a select whose rows are then changed. */
  readonly forUpdate: RawBuilder<unknown>
  /** Text that is appended to a select whose rows of a table are then changed. */
  lockRows(table: string): string
  /** From here on the transaction waits this long at most for a locked row; then it fails as busy. */
  waitAtMost(db: Connection, ms: number): Promise<void>
  /** Text appended to a select which takes the rows of a table that no other transaction locks. */
  skipLocked(table: string): string
  /** A condition: the column is one of these values. */
  oneOf(column: string, type: 'integer' | 'text' | 'hex', values: readonly unknown[], parameter: Parameter): string
  /**
   * A condition: `first` is a value, and `second` is from one number up to another, both included. With
   * `order by first, second` it uses the index on both columns, whatever share of the table has that value.
   */
  indexRange(first: string, second: string, range: IndexRange, parameter: Parameter): string
  /** The `0x` text of a column of bytes, as an expression. */
  hexText(column: string): string
  /** The expression by which a statement reads a column of bytes, for {@link toBytes}. */
  bytesText(column: string): string
  /** The bytes that a statement read. */
  toBytes(read: Uint8Array | string): Uint8Array
  bulkSource(columns: readonly BulkColumn[], rows: readonly (readonly unknown[])[]): BulkSource
  /** The placeholder of the n-th parameter, from 1. */
  placeholder(n: number): string
  /** How many of the `left` rows of that many columns the next statement carries. */
  bulkRows(rowCount: number, columns: number): number
  insertAll(db: Connection, insert: BulkInsert): Promise<void>
  updateAll(db: Connection, update: BulkUpdate): Promise<void>
  /**
   * Inserts rows to which the database gives ids.
   * @param unlessThere - Columns of a key; rows whose key is stored are left out. No two of the rows share one.
   * @returns Their ids in the order of the rows, when all were inserted; else a way to tell the ids of those that were.
   */
  insertNumbered(db: Connection, insert: Omit<BulkInsert, 'sends'>, unlessThere?: string): Promise<InsertedIds>
  /**
   * Selects the longest due delivery of each integration that may be notified: `id`, `due_at`, `integration`, `lane`,
   * `notification_url`, `probe`. `probe` is 1 for a blocked integration that may be probed; it has both its longest due
   * first attempt and retry. Costs the same at any backlog: one index search for each integration with pending rows.
   *
   * @param now - The time, as text.
   */
  selectDue(query: DueQuery, now: string, parameter: Parameter): string
  /** The number of pending deliveries of the same integrations, counted up to `atMost`. */
  pending(atMost: number): RawBuilder<{ pending: Integer }>
  /**
   * A select of `newest`, the highest id of a table, and `writers`, the transactions that may be inserting into it.
   * `writers` is a JSON array of names, each of one transaction alone. It has every transaction that commits a lower id
   * later.
   */
  newestAndWriters(table: string): string
  /**
   * A select of `next` and `oldest`: the number of the next transaction that writes, and of the oldest that runs. Those
   * that run now have ended once `oldest` reaches `next`.
   */
  readonly runningTransactions: string
  /** Waits for a lock, which lasts until the transaction ends. Shared locks exclude the exclusive one alone. */
  lock(db: Connection, lock: LockName): Promise<void>
  /** The highest number that the database assigned to a column, as an expression; 0 for none. */
  lastAssigned(table: string, column: string): string
  /** About how many rows a table has; null: unknown. */
  estimateRows(db: Connection, table: string): Promise<number | null>
  /** Whether a table of the store is there. */
  hasTable(db: Connection, table: string): Promise<boolean>
  /** Null: the segments share their tables. */
  readonly partitions: Partitions | null
}

/**
 * A statement that a connection may keep with its plan, under a name made from its text; undefined: it is planned each
 * time.
 */
export interface NamedQuery {
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly name?: string | undefined
}

export interface TransactionOptions {
  /**
   * False: a loss of power may undo it. Nothing but that does, and what is committed as durable afterwards keeps it.
   * @default true
   */
  readonly durable?: boolean
  /**
   * Whether it begins with a search, which can be sent before BEGIN is answered. It looks everything up by an index, so
   * its statements may keep plans that were made without values.
   * @default false
   */
  readonly searches?: boolean
  /** Whether it may take as long as it takes, as a migration of a large table does. @default false */
  readonly isLong?: boolean
}

export interface Engine {
  /** Rejects a database whose product or version this release does not know. @throws StoreError `ERR_STORE_ENGINE` */
  check?(): Promise<void>
  readonly dialect: SqlDialect
  /** For reads outside a transaction: they see committed rows only. */
  readonly read: Connection
  /** Runs one statement as `read` does, without a query builder's way to it. */
  rows(query: NamedQuery): Promise<RawRows>
  /** Runs `work` in one transaction; again, a bounded number of times, when the database reports a conflict. */
  transaction<T>(work: (db: Transaction<Tables>) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Runs `work` while no other process migrates; waits for that as long as it takes. */
  exclusively<T>(work: () => Promise<T>): Promise<T>
  /** Whether an index is there, and complete. */
  hasIndex(name: string): Promise<boolean>
  /** Makes an index unless it is there. Others may write meanwhile, where the database can. */
  makeIndex(index: IndexDefinition): Promise<void>
  /** Announces due deliveries to other processes, soon and where the database can. Never fails. */
  announceDue(): void
  /** Calls `listener` after an announcement. Returns the function that stops it. */
  whenDue(listener: () => void): () => void
  /** Reads the oldest snapshot of any session, where the database keeps dead rows for them. */
  oldestSnapshot?(): Promise<DatabaseSnapshot | null>
  /** A standby for reads that may be stale within a bound. */
  readonly reader?: Reader | undefined
  close(): Promise<void>
}

export interface Reader extends Pick<Engine, 'read' | 'rows' | 'dialect'> {
  /** Whether it has everything that was committed up to the bound ago. */
  isFresh(): boolean
  /** Sends reads to the primary until the lag is measured again. */
  distrust(): void
}
