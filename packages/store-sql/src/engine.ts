/** The interface to a database, and the dialect: what differs between SQLite and PostgreSQL. @module */
import type { DatabaseSnapshot } from '@payment-integration/core/internal'
import type { Kysely, RawBuilder } from 'kysely'
import type { RawRows } from './internal/values.js'
import type { ColumnTypes, IndexDefinition, Integer } from './schema/migration.js'
import type { SegmentIds } from './schema/partitions.js'
import type { Tables } from './schema/tables.js'

/** A transaction, or the connection for reads outside of transactions, with the dialect of its database. */
export type Connection = Kysely<Tables> & { readonly dialect: SqlDialect }

/** Adds the dialect to `db` itself; a connection derived from it later (as by `withSchema`) does not have it. */
export const withDialect = (db: Kysely<Tables>, dialect: SqlDialect): Connection => Object.assign(db, { dialect })

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
  /** Columns with the same SQL expression in each row. */
  readonly fixed?: readonly { readonly name: string; value(parameter: Parameter): string }[]
  /** Whether to return before the database answers; see `SentQuery`. @default false */
  readonly isPipelined?: boolean
  /** Whether the text does not depend on the rows, so that it can be a prepared statement. @default false */
  readonly isPreparable?: boolean
}

export interface InsertedIds {
  /** In the order of the rows; null if some rows were stored before. */
  readonly ids: readonly number[] | null
  /** Whether the row with this id was inserted now. */
  isNew(id: number): boolean
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
  /** Whether deliveries that probe blocked endpoints are selected, too. */
  readonly includesProbes: boolean
  /** The most integrations of each scan, and the most probes. */
  readonly maxIntegrations: number
  /** The most deliveries of one integration in one lane. */
  readonly maxPerIntegration: number
  readonly excludedIds: readonly number[]
}

export interface IndexRange {
  readonly value: unknown
  readonly from: number
  readonly upTo: number
}

/** The tables of segments, for a database with one table per segment. */
export interface Partitions {
  /** Creates the tables of a segment if they do not exist. */
  add(db: Connection, segment: SegmentIds): Promise<void>
  /** Gives new deliveries ids from `first` on. Locks writers out: they might not see the segment's table yet. */
  beginIds(db: Connection, first: number): Promise<void>
  /** Removes the attempts of a segment. */
  empty(db: Connection, number: number): Promise<void>
  /** Removes the tables of a segment, with its deliveries and attempts. */
  drop(db: Connection, number: number): Promise<void>
}

/** SQL that differs between the databases. */
export interface SqlDialect {
  readonly types: ColumnTypes
  /** Quotes a table's name, with its schema if there is one. */
  name(table: string): string
  /** The current time for leases, in unix milliseconds: a parameter, or the database's clock. */
  now(): RawBuilder<number>
  /** {@link SqlDialect.now} as SQL text. */
  nowText(parameter: Parameter): string
  /** Returns a function that gives the same time, as SQL text, to all statements of a transaction. */
  moment(): (parameter: Parameter) => string
  /** `FOR UPDATE`, if the database needs it. */
  readonly forUpdate: RawBuilder<unknown>
  /** `FOR UPDATE` of one table, as text. */
  lockRows(table: string): string
  /** Limits how long the transaction waits for a locked row before it fails as busy. */
  waitAtMost(db: Connection, ms: number): Promise<void>
  /** `FOR UPDATE SKIP LOCKED` of one table, as text. */
  skipLocked(table: string): string
  /** A condition: the column is one of these values. */
  oneOf(column: string, type: 'integer' | 'text' | 'hex', values: readonly unknown[], parameter: Parameter): string
  /**
   * A condition: `first` has a value and `second` is in a range, both ends included. With `order by first, second`
   * every planner uses the index on both columns.
   */
  indexRange(first: string, second: string, range: IndexRange, parameter: Parameter): string
  /** The `0x` text of a column of bytes, as an expression. */
  hexText(column: string): string
  /** The expression that reads a column of bytes for {@link SqlDialect.toBytes}. */
  bytesText(column: string): string
  toBytes(read: Uint8Array | string): Uint8Array
  /** Rows as a table expression. */
  bulkSource(
    columns: readonly BulkColumn[],
    rows: readonly (readonly unknown[])[],
  ): { readonly sql: string; readonly parameters: unknown[] }
  /** The placeholder of the n-th parameter, from 1. */
  placeholder(n: number): string
  /** How many of the remaining rows the next statement contains. */
  bulkRows(rowCount: number, columns: number): number
  insertAll(db: Connection, insert: BulkInsert): Promise<void>
  /**
   * Inserts rows whose ids the database assigns.
   * @param uniqueColumns - Columns of a unique key; rows whose key is stored are left out.
   */
  insertNumbered(db: Connection, insert: Omit<BulkInsert, 'isPipelined'>, uniqueColumns?: string): Promise<InsertedIds>
  /**
   * Selects the longest due deliveries of each integration that may be notified: `id`, `due_at`, `integration`, `lane`,
   * `notification_url`, `probe`. `probe` is 1 for the delivery that may probe a blocked integration: its longest due
   * first attempt or retry; SQLite returns one of each. There is one index search per integration, whatever the
   * backlog.
   * @param now - The time, as text.
   */
  selectDue(query: DueQuery, now: string, parameter: Parameter): string
  /** The number of pending deliveries of integrations that may be notified, counted up to `atMost`. */
  pending(atMost: number): RawBuilder<{ pending: Integer }>
  /**
   * Selects `newest`, the highest id of a table, and `writers`, a JSON array with a unique name for every transaction
   * that may still commit a lower id.
   */
  newestAndWriters(table: string): string
  /**
   * Selects `next` and `oldest`: the numbers of the next transaction that writes and of the oldest that runs. Once a
   * later `oldest` reaches this `next`, every transaction that writes now has ended.
   */
  readonly runningTransactions: string
  /** Locks the blocks of a chain, the audit log or the steps of a migration until the transaction ends. May wait. */
  lock(db: Connection, lock: `chain ${number}` | 'audit' | 'schema'): Promise<void>
  /** The highest number that the database assigned to a column, as an expression; 0 if none. */
  lastAssigned(table: string, column: string): string
  /** Null if unknown. */
  estimateRows(db: Connection, table: string): Promise<number | null>
  hasTable(db: Connection, table: string): Promise<boolean>
  /** Null if the segments share their tables. */
  readonly partitions: Partitions | null
}

export interface NamedQuery {
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** The name of a prepared statement, made from the text; undefined for a statement that is planned each time. */
  readonly name?: string | undefined
}

export interface TransactionOptions {
  /** If false, a loss of power may undo the commit, until a later durable commit. @default true */
  readonly durable?: boolean
  /**
   * Whether the first statement only reads, so that it can be sent together with BEGIN, and all statements search by
   * index, so that they may keep generic plans.
   * @default false
   */
  readonly searches?: boolean
  /** Whether there is no time limit, as for a migration of a large table. @default false */
  readonly isLong?: boolean
}

export interface Engine {
  /** @throws StoreError `ERR_STORE_ENGINE` for a product or version that this release does not support. */
  check?(): Promise<void>
  readonly dialect: SqlDialect
  /** For reads outside a transaction: they see committed rows only. */
  readonly read: Connection
  /** Runs one statement as `read` does, without the cost of a query builder. */
  rows(query: NamedQuery): Promise<RawRows>
  /** Runs `work` in one transaction, and retries a limited number of times after a conflict. */
  transaction<T>(work: (db: Connection) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Runs `work` while no other process migrates. Waits without limit. */
  runExclusively<T>(work: () => Promise<T>): Promise<T>
  /** Whether an index exists and is valid. */
  hasIndex(name: string): Promise<boolean>
  /** Creates an index if it does not exist, without blocking writers if the database can. */
  createIndex(index: IndexDefinition): Promise<void>
  /** Announces due deliveries to other processes, if the database can. Never fails. */
  announceDue(): void
  /** Calls `listener` after an announcement. Returns a function that unsubscribes. */
  whenDue(listener: () => void): () => void
  /** Reads the oldest snapshot of any session, on a database that keeps dead rows for snapshots. */
  oldestSnapshot?(): Promise<DatabaseSnapshot | null>
  /** A standby for reads that may be stale. */
  readonly reader?: Reader | undefined
  close(): Promise<void>
}

export interface Reader extends Pick<Engine, 'read' | 'rows'> {
  /** Whether the lag is within its limit. */
  isFresh(): boolean
  /** Sends reads to the primary until the lag is measured again. */
  distrust(): void
}
