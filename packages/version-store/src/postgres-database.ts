/** Types of the PostgreSQL drivers and their transactions, so that no driver is a dependency. @module */

type Methods<Name extends string> = { readonly [Each in Name]: (...values: never) => unknown }

/**
 * A connected `Client` of `pg`, best used by the store alone. Stores on it take turns; a pool serves payments in
 * parallel. **Other code takes no turns.** Its writes on the same client join the store's open transaction, and are
 * rolled back when the effect fails.
 */
export type PgClient = Methods<'query' | 'connect'>

/** A pool of `pg`. */
export interface PgPool extends PgClient {
  readonly totalCount: number
}

export type PostgresJs = Methods<'begin' | 'unsafe'>

/** A `Kysely` on a PostgreSQL dialect. */
export type KyselyDatabase = Methods<'executeQuery' | 'transaction'>

/** The result of `drizzle()` for PostgreSQL, on a pool. */
export type DrizzleDatabase = Methods<'execute' | 'transaction'>

/** Drizzle's `sql`, which binds the values as parameters. */
export type DrizzleSql = (strings: TemplateStringsArray, ...values: unknown[]) => unknown

/** A driver that the store knows, by its shape. */
export type PostgresDatabase = PgPool | PgClient | PostgresJs | KyselyDatabase | DrizzleDatabase

/** The driver's own transaction: effects get it as `tx`. */
export type PostgresTransaction<Database> = Database extends PgPool
  ? Database extends { readonly connect: { (): Promise<infer Client>; (callback: never): unknown } }
    ? Client
    : never
  : Database extends PostgresJs
    ? Database extends {
        readonly begin: { (work: (tx: infer Tx) => never): unknown; (options: never, work: never): unknown }
      }
      ? Tx
      : never
    : Database extends KyselyDatabase
      ? Database extends { transaction(): { execute(work: (tx: infer Tx) => Promise<never>): unknown } }
        ? Tx
        : never
      : Database extends DrizzleDatabase
        ? Database extends { transaction(work: (tx: infer Tx) => Promise<never>, config?: never): unknown }
          ? Tx
          : never
        : Database
