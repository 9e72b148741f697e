/** A Kysely driver over a `pg` pool. @module */
import { type Driver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { Pool } from 'pg'
import type { NamedQuery } from '../engine.js'
import type { RawRows } from '../internal/row-view.js'
import type { Tables } from '../schema/tables.js'
import { type Limits, PostgresConnection, type PostgresDriverOptions } from './postgres-connection.js'
import { closedError, connectError } from './postgres-error.js'

const begin = 'begin isolation level read committed'
// The plans of claims and settlements are made without values, perhaps while the tables were empty. They must not scan
// growing tables.
const byIndex = [
  'set local plan_cache_mode = force_generic_plan',
  ...['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'].map((way) => `set local enable_${way} = off`),
].join('; ')
/** Lifts time-outs, until the transaction or the session ends. PostgreSQL has `transaction_timeout` from version 17. */
export const unbounded = (scope: 'transaction' | 'session', names: readonly string[]): string =>
  `select set_config(name, '0', ${scope === 'transaction'}) from pg_catalog.pg_settings
   where name in (${names.map((name) => `'${name}'`).join(', ')})`
/** Sets time limits until the transaction ends. */
const limited = ({ lockTimeoutMs, statementTimeoutMs, idleInTransactionTimeoutMs }: Limits): string =>
  `set local lock_timeout = ${lockTimeoutMs}; set local statement_timeout = ${statementTimeoutMs};
   set local idle_in_transaction_session_timeout = ${idleInTransactionTimeoutMs}`
const hastily = 'set local synchronous_commit = off'

/** Connections of a pool. */
export class PostgresDriver implements Driver {
  readonly #pool: Pool
  readonly #options: PostgresDriverOptions
  #closed = false

  constructor(pool: Pool, options: PostgresDriverOptions) {
    this.#pool = pool
    this.#options = options
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    if (this.#closed) throw closedError()
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#options)
    } catch (error) {
      throw connectError(error)
    }
  }

  /** Runs one statement on its own connection. */
  async rows(query: NamedQuery): Promise<RawRows> {
    const connection = await this.acquireConnection()
    try {
      return await connection.raw(query)
    } finally {
      connection.release()
    }
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    const { words, durable, searches, isLong, ownClients, limits } = this.#options
    const settings = [
      ...(limits === undefined ? [] : [limited(limits)]),
      ...(durable === false ? [hastily] : []),
      ...(searches === true ? [byIndex] : []),
      ...(isLong === true ? [unbounded('transaction', ['statement_timeout', 'transaction_timeout'])] : []),
    ]
    await connection.begin(words?.begin ?? [begin, ...settings].join('; '), searches === true && ownClients === true)
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.run(this.#options.words?.commit ?? 'commit')
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.rollback()
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release()
  }

  /** Rejects new work; the pool's owner ends the pool. */
  close(): void {
    this.#closed = true
  }

  async destroy(): Promise<void> {}
}

/** The query builder over a driver. */
export function kyselyOn(driver: PostgresDriver): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
}
