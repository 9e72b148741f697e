/**
 * The port to a PostgreSQL driver, the statements of the store, and the meaning of their failures. Source:
 * docs/interface.md 6, receiver obligations.
 * @module
 */
import { StoreBusyError, TableMissingError, TransactionEndedError, TransactionFailedError } from '../../errors.js'
import { pageSize } from '../pages.js'

/** SQL with placeholders for values. */
interface Statement {
  /** The SQL as the pieces of a tagged template, as postgres.js and Drizzle take it. */
  readonly pieces: TemplateStringsArray
  /** The SQL with numbered placeholders (`$1`), as the server takes it. */
  readonly text: string
  /** Name of the prepared statement, which depends on the text; undefined: never prepare it. */
  readonly name: string | undefined
}

/** Longest statement and longest idle time in a transaction of the store, in milliseconds; 0: no limit. */
interface Limits {
  readonly statementMs: number
  readonly idleMs: number
}

/** @throws {TypeError} When it is not a lower-case name, with or without a lower-case schema and a dot before it. */
function quoteTable(table: string): string {
  if (!/^([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}$/.test(table))
    throw new TypeError(
      `table is ${JSON.stringify(table)}; pass 1 to 63 lower-case letters, digits and underscores, with or without a schema.`,
    )
  return table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.')
}

/** Creates the table where it is missing. Versions are no part of the key, so that an update touches no index. */
export function tableSql(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${quoteTable(table)} (
  integration_address text COLLATE "C" NOT NULL,
  chain_id text COLLATE "C" NOT NULL,
  tx_hash text COLLATE "C" NOT NULL,
  version bigint NOT NULL CHECK (version > 0),
  PRIMARY KEY (integration_address, chain_id, tx_hash)
) WITH (fillfactor = 90)`
}

/**
 * Stores the version if it is greater, and returns the transaction's number; otherwise no row.
 * It waits for other transactions of this payment, in the database's order, and then compares with their version.
 * With `limits`, it first sets the limits for its transaction: a statement for this alone would cost a round trip.
 * Values: with `limits`, the longest lock wait in milliseconds comes first; then the payment and the version.
 */
export function advanceStatement(table: string, limits?: Limits): Statement {
  const target = `INTO ${quoteTable(table)} AS kept (integration_address, chain_id, tx_hash, version)`
  const from = limits ? ' FROM limits' : ''
  return statement(
    ...(limits
      ? [`WITH limits AS (SELECT set_config('lock_timeout', `, `, true)${settings(limits)}) INSERT ${target} SELECT `]
      : [`INSERT ${target} SELECT `]),
    '::text, ',
    '::text, ',
    '::text, ',
    `::bigint${from}
ON CONFLICT (integration_address, chain_id, tx_hash) DO UPDATE SET version = excluded.version WHERE kept.version < excluded.version
RETURNING txid_current()::text AS xact`,
  )
}

export function readStatement(table: string): Statement {
  return statement(
    `SELECT version::text AS version FROM ${quoteTable(table)} WHERE integration_address = `,
    ' AND chain_id = ',
    ' AND tx_hash = ',
    '',
  )
}

/** Reads a page of an integration's payments, after a chain and hash. No driver plugin renames its columns. */
export function pageStatement(table: string): Statement {
  return statement(
    `SELECT chain_id AS chain, tx_hash AS hash FROM ${quoteTable(table)} WHERE integration_address = `,
    '::text AND (chain_id, tx_hash) > (',
    '::text, ',
    `::text) ORDER BY chain_id, tx_hash LIMIT ${pageSize}`,
  )
}

/** SQL that fails in every transaction with another number, and in one that cannot be committed. */
export function commitCheckSql(xact: string): string {
  return `SELECT 1 / coalesce(txid_current_if_assigned() = ${BigInt(xact)}, false)::int`
}

/** A statement without values. It is never prepared. */
export function plainStatement(text: string): Bound {
  return { statement: { ...statement(text), name: undefined }, values: [] }
}

function settings({ statementMs, idleMs }: Limits): string {
  const set = (name: string, ms: number) => `, set_config('${name}', '${ms}', true)`
  return set('statement_timeout', statementMs) + set('idle_in_transaction_session_timeout', idleMs)
}

function statement(...pieces: string[]): Statement {
  const text = pieces.reduce((before, piece, index) => `${before}$${index}${piece}`)
  return { pieces: Object.assign(pieces, { raw: pieces }), text, name: `payment_version_${digest(text)}` }
}

/** FNV-1a: short, and different for different tables and limits. */
function digest(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

export type Row = Readonly<Record<string, unknown>>

/** A statement with its values, which are texts. */
export interface Bound {
  readonly statement: Statement
  readonly values: readonly string[]
}

/** The work after the first statement of a transaction, with that statement's rows. */
export type Work<Tx, Result> = (tx: Tx, rows: readonly Row[]) => Promise<Done<Result>>

/** The result of a transaction's work. */
interface Done<Result> {
  readonly result: Result
  /** SQL that fails if this transaction is over or cannot be committed: then there must be no COMMIT. */
  readonly commitCheck?: string
}

/** The port that the adapter of each driver implements. */
export interface PostgresDriver<Tx> {
  /** The connection, if there is only one: its users must take turns. */
  readonly connection?: object
  /** Whether the caller gets an error, and the process survives, when the server ends a connection in a transaction. */
  readonly survivesIdleTimeout: boolean
  /** Runs a statement outside of transactions, or in one. */
  query(tx: Tx | undefined, bound: Bound): Promise<readonly Row[]>
  /** Begins at READ COMMITTED, runs `first`, does the work, commits. If a step fails, rolls back and rethrows. */
  transaction<Result>(first: Bound, work: Work<Tx, Result>): Promise<Result>
  /** Does the same at a savepoint of the caller's transaction, and undoes its own part alone when it fails. */
  nested<Result>(tx: Tx, first: Bound, work: Work<Tx, Result>): Promise<Result>
}

/**
 * Builds the callback of a transaction, for drivers that begin and commit by themselves. The commit check is its last
 * statement.
 */
export const withCommitCheck =
  <Tx, Result>(query: PostgresDriver<Tx>['query'], first: Bound, work: Work<Tx, Result>) =>
  async (tx: Tx): Promise<Result> => {
    const { result, commitCheck } = await work(tx, await query(tx, first))
    if (commitCheck !== undefined) await query(tx, plainStatement(commitCheck))
    return result
  }

export const savepoint = 'payment_version_effect'

/** For drivers that have no function for savepoints: does the work at one, and undoes it when it fails. */
export async function workAtSavepoint<Result>(
  run: (sql: string) => Promise<unknown>,
  work: () => Promise<Done<Result>>,
): Promise<Result> {
  await run(`SAVEPOINT ${savepoint}`)
  try {
    const { result } = await work()
    await run(`RELEASE ${savepoint}`)
    return result
  } catch (error) {
    const undone = run(`ROLLBACK TO ${savepoint}`).then(() => run(`RELEASE ${savepoint}`))
    // A failed rollback must not hide the error of the work.
    await undone.catch(() => {})
    throw error
  }
}

/** The SQLSTATE of an error or of its cause: drizzle wraps the errors of its driver. */
export function sqlState(error: unknown): string | undefined {
  for (let at = error, depth = 0; depth < 3; depth++) {
    // No `instanceof`: the error of a driver may come from another realm.
    const { code, cause } = Object(at) as { code?: unknown; cause?: unknown }
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code
    at = cause
  }
  return undefined
}

// PostgreSQL's table of SQLSTATE codes.
const lockNotAvailable = '55P03'
const queryCanceled = '57014'
const undefinedTable = '42P01'
const divisionByZero = '22012'
const failedTransaction = '25P02'
const noActiveTransaction = '25P01'
const noSuchSavepoint = '3B001'

/** Whether the error shows that the store's transaction is over: its commit check failed, or its savepoint is gone. */
export function isTransactionEnded(error: unknown): boolean {
  return [divisionByZero, noActiveTransaction, noSuchSavepoint].includes(sqlState(error) ?? '')
}

/** Converts an error before the effect: a slow lock, a missing table, or a failed transaction of the caller. */
export function toAdvanceError(error: unknown, table: string, waitedMs: number): unknown {
  const state = sqlState(error)
  if (state === lockNotAvailable || state === queryCanceled) return new StoreBusyError(waitedMs, 'lock', error)
  if (state === undefinedTable) return new TableMissingError(table, error)
  return state === failedTransaction ? new TransactionFailedError(error) : error
}

export function toCommitError(error: unknown): unknown {
  if (isTransactionEnded(error)) return new TransactionEndedError()
  return sqlState(error) === failedTransaction ? new TransactionFailedError(error) : error
}

export function rejectMissingTable(table: string): (error: unknown) => never {
  return (error) => {
    throw sqlState(error) === undefinedTable ? new TableMissingError(table, error) : error
  }
}
