/** The shapes of the PostgreSQL drivers, so that none of them is a dependency, and the transaction that each one gives. @module */

/** Any function. */
export type Method = (...values: never) => unknown

/**
 * A connection of `pg` that you connected, best for the store alone. The stores on it take turns; a pool serves payments side by side.
 * **Other code does not take turns:** what it writes on the same client while an effect runs is inside of the store's transaction, and is
 * undone with it when the effect fails.
 */
export interface PgClient {
  readonly query: Method
  readonly connect: Method
}

/** A pool of `pg`. */
export interface PgPool extends PgClient {
  readonly totalCount: number
}

/** What `postgres()` of postgres.js gives. */
export interface PostgresJs {
  readonly begin: Method
  readonly unsafe: Method
}

/** A `Kysely` on a PostgreSQL dialect. */
export interface KyselyDatabase {
  readonly executeQuery: Method
  readonly transaction: Method
}

/** What `drizzle()` gives for PostgreSQL, on a pool. */
export interface DrizzleDatabase {
  readonly execute: Method
  readonly transaction: Method
}

/** Drizzle's `sql`, which makes its parameters. */
export type DrizzleSql = (strings: TemplateStringsArray, ...values: unknown[]) => unknown

/** A driver that the store knows, by its shape. */
export type PostgresDatabase = PgPool | PgClient | PostgresJs | KyselyDatabase | DrizzleDatabase

/** What the driver itself gives to the work of a transaction: effects get it as `tx`. */
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
