/** The port to a PostgreSQL driver. @module */
import { plain, type Statement } from './statements.js'

/** A row as drivers give it. */
export type Row = Readonly<Record<string, unknown>>

/** A statement with its values, which are texts. */
export interface Bound {
  readonly statement: Statement
  readonly values: readonly string[]
}

/** The work after the first statement of a transaction, with that statement's rows. */
export type Work<Tx, Result> = (tx: Tx, rows: readonly Row[]) => Promise<Done<Result>>

/** The result of a transaction's work. */
export interface Done<Result> {
  readonly result: Result
  /** SQL that fails where the transaction is not this one any more, or cannot be kept: then there must be no COMMIT. */
  readonly seal?: string
}

/** One of the drivers, behind the same shape. */
export interface PostgresDriver<Tx> {
  /** The connection, where there is only one: what uses it must take turns. */
  readonly connection?: object
  /** Whether an error of the caller, not of the process, follows when the server ends a connection mid-transaction. */
  readonly survivesIdleTimeout: boolean
  /** Runs a statement outside of transactions, or in one. */
  query(tx: Tx | undefined, bound: Bound): Promise<readonly Row[]>
  /** Begins at READ COMMITTED, runs `first`, does the work, commits. Rolls back and rethrows when any of it fails. */
  transaction<Result>(first: Bound, work: Work<Tx, Result>): Promise<Result>
  /** Does the same at a savepoint of the caller's transaction, and undoes its own part alone when it fails. */
  nested<Result>(tx: Tx, first: Bound, work: Work<Tx, Result>): Promise<Result>
}

/** For drivers that begin and commit by themselves: the seal is the last statement before the COMMIT. */
export async function sealed<Tx, Result>(
  query: PostgresDriver<Tx>['query'],
  tx: Tx,
  first: Bound,
  work: Work<Tx, Result>,
): Promise<Result> {
  const { result, seal } = await work(tx, await query(tx, first))
  if (seal !== undefined) await query(tx, { statement: plain(seal), values: [] })
  return result
}

/** The SQLSTATE of an error, or of what it was caused by: drizzle wraps what its driver throws. */
export function sqlState(error: unknown): string | undefined {
  for (let at = error, depth = 0; depth < 3; depth++) {
    // No `instanceof`: the error of a driver may come from another realm.
    const { code, cause } = Object(at) as { code?: unknown; cause?: unknown }
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code
    at = cause
  }
  return undefined
}
