/** A Kysely driver over a `pg` pool that never releases a connection in an unknown state. @module */
import type { CompiledQuery, DatabaseConnection, Driver } from 'kysely'
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { Pool, PoolClient, QueryArrayResult } from 'pg'
import type { NamedQuery, TransactionOptions } from '../engine.js'
import { PreparedQuery, rejectStream, SentQuery, type SentResult } from '../internal/statements.js'
import { createClosedError, createRowView, type RawRows } from '../internal/values.js'
import type { Tables } from '../schema/tables.js'
import { queryTextRows } from './bulk-rows.js'
import { convertPostgresError, createConnectError, isConnectionLost } from './postgres-error.js'

export interface Limits {
  readonly lockTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly idleInTransactionTimeoutMs: number
}

export interface PostgresDriverOptions extends TransactionOptions {
  /** Whether named queries are prepared statements. */
  readonly keepsPlans: boolean
  /**
   * Whether the clients are of this package's own `pg`, which can send a statement before the last is answered.
   * @default false
   */
  readonly usesOwnPg?: boolean
  /** Time limit of an answer, after which the connection is closed. */
  readonly answerTimeoutMs?: number | undefined
  /** Time limits that each transaction sets. @default those of the connection */
  readonly limits?: Limits | undefined
  /** The statements that begin and end a transaction. @default BEGIN, COMMIT and ROLLBACK */
  readonly transactionSql?: { readonly begin: string; readonly commit: string; readonly rollback: string }
  /** Whether the store was closed, so that new work is rejected. @default never */
  isClosed?(): boolean
}

type Done<Answer> = (error: Error | null | undefined, answer: Answer) => void

/** A borrowed connection. After the first error in a transaction it accepts only the rollback. */
export class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #options: PostgresDriverOptions
  readonly streamQuery = rejectStream
  #failure: { readonly error: unknown } | undefined
  /** Whether a statement failed, so that later ones are not executed although COMMIT is answered. */
  #hasFailedStatement = false
  #isLost = false
  #begun: Promise<unknown> = Promise.resolve()
  // Without a listener a broken idle connection would end the process.
  readonly #onError = (error: Error) => this.#fail(error, true)

  constructor(client: PoolClient, options: PostgresDriverOptions) {
    this.#client = client
    this.#options = options
    client.on('error', this.#onError)
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<SentResult<Row>> {
    const { sql, parameters } = query
    const searches = this.#options.searches === true
    const isSent = query instanceof SentQuery
    const name = searches && (isSent || query instanceof PreparedQuery) ? query.name : undefined
    // Only a read may be sent with BEGIN: if BEGIN fails, a write would be committed by itself.
    if (name === undefined || !sql.startsWith('select')) await this.#begun
    const readsViews = isSent || name !== undefined
    const rowsAnswer = readsViews ? this.#readViews({ sql, parameters, name }) : this.run(sql, parameters)
    const answer = rowsAnswer as Promise<{ rows: Row[] }>
    if (!isSent || this.#options.usesOwnPg !== true) return answer
    const later = answer.then(({ rows }) => rows)
    // The error fails the transaction, and must not end the process if the rows are never read.
    later.catch(() => undefined)
    return { rows: [], later }
  }

  /** Rows as arrays; integers may be text. */
  async raw({ sql, parameters, name }: NamedQuery): Promise<RawRows> {
    const { keepsPlans, usesOwnPg } = this.#options
    const query = { text: sql, values: [...parameters], ...(keepsPlans && name !== undefined ? { name } : {}) }
    if (usesOwnPg === true) return this.#ask<RawRows>((done) => queryTextRows(this.#client, query, done))
    const { fields, rows } = await this.#ask<QueryArrayResult<unknown[]>>((done) => {
      void this.#client.query({ ...query, rowMode: 'array' }, done)
    })
    return { columns: fields.map((field) => field.name), values: rows }
  }

  /** Rows as views, to be read field by field. */
  async #readViews(query: NamedQuery): Promise<{ rows: object[] }> {
    const { columns, values } = await this.raw(query)
    return { rows: values.length === 0 ? [] : values.map(createRowView(columns)) }
  }

  run(text: string, values: readonly unknown[] = []): Promise<{ rows: unknown[] }> {
    const query = { text, values: [...values] }
    return this.#ask<{ rows: unknown[] }>((done) => {
      void this.#client.query(query, done)
    })
  }

  // PostgreSQL answers the COMMIT of a failed transaction with a silent ROLLBACK. So after a failure all later
  // statements reject, even if the caller caught the error.
  async #ask<Answer>(send: (done: Done<Answer>) => void): Promise<Answer> {
    this.#throwFailure()
    const answer = await this.#awaitAnswer(send).catch((error) => {
      this.#hasFailedStatement = true
      throw this.#fail(error, isConnectionLost(error)).error
    })
    // An earlier statement failed, so the COMMIT was a rollback.
    if (this.#hasFailedStatement) this.#throwFailure()
    return answer
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Begins a transaction. If it is pipelined, the next statement may be sent before BEGIN is answered. */
  async begin(text: string, isPipelined: boolean): Promise<void> {
    this.#begun = this.run(text)
    // If BEGIN failed, the first statement only read, and no other follows.
    if (isPipelined) this.#begun.catch(() => undefined)
    else await this.#begun
  }

  // Uses a callback and a timer: the promise and the `query_timeout` of `pg` leave garbage in V8's old generation. That
  // garbage retains the rows of later queries until a full collection.
  #awaitAnswer<Answer>(send: (done: Done<Answer>) => void): Promise<Answer> {
    const { answerTimeoutMs } = this.#options
    return new Promise((resolve, reject) => {
      const onTimeout = () => reject(new Error('Query read timeout'))
      const timer = answerTimeoutMs === undefined ? undefined : setTimeout(onTimeout, answerTimeoutMs)
      send((error, answer) => {
        clearTimeout(timer)
        if (error) reject(error)
        else resolve(answer)
      })
    })
  }

  async rollback(): Promise<void> {
    if (this.#isLost) return
    try {
      await this.#awaitAnswer((done) => this.#client.query(this.#options.transactionSql?.rollback ?? 'rollback', done))
    } catch {
      this.#isLost = true // The server rolls back when the connection ends; the first error is the one to report.
    }
  }

  /** Closes the connection at its release, because its settings are no longer the pool's. */
  discard(): void {
    this.#isLost = true
  }

  release(): void {
    // Ending a client waits for answers, which may never arrive.
    if (this.#isLost && this.#options.usesOwnPg === true) getStream(this.#client)?.destroy()
    this.#client.release(this.#isLost)
    this.#client.off('error', this.#onError)
  }

  #fail(error: unknown, isLost: boolean) {
    this.#isLost ||= isLost
    this.#failure ??= { error: convertPostgresError(error) }
    return this.#failure
  }
}

function getStream(client: PoolClient): { destroy(): void } | undefined {
  return (client as unknown as { readonly connection?: { readonly stream?: { destroy(): void } } }).connection?.stream
}

const beginSql = 'begin isolation level read committed'
// Generic plans may be made while tables are empty; they must not scan the tables once these have grown.
const searchByIndexSql = [
  'set local plan_cache_mode = force_generic_plan',
  ...['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'].map((way) => `set local enable_${way} = off`),
].join('; ')
/** Lifts time-outs for the transaction or the session. `transaction_timeout` exists from PostgreSQL 17 on. */
export const liftTimeoutsSql = (scope: 'transaction' | 'session', names: readonly string[]): string =>
  `select set_config(name, '0', ${scope === 'transaction'}) from pg_catalog.pg_settings
   where name in (${names.map((name) => `'${name}'`).join(', ')})`
const setTimeoutsSql = ({ lockTimeoutMs, statementTimeoutMs, idleInTransactionTimeoutMs }: Limits): string =>
  `set local lock_timeout = ${lockTimeoutMs}; set local statement_timeout = ${statementTimeoutMs};
   set local idle_in_transaction_session_timeout = ${idleInTransactionTimeoutMs}`
const asynchronousCommitSql = 'set local synchronous_commit = off'

export class PostgresDriver implements Driver {
  readonly #pool: Pool
  readonly #options: PostgresDriverOptions

  constructor(pool: Pool, options: PostgresDriverOptions) {
    this.#pool = pool
    this.#options = options
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    if (this.#options.isClosed?.()) throw createClosedError()
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#options)
    } catch (error) {
      throw createConnectError(error)
    }
  }

  async rows(query: NamedQuery): Promise<RawRows> {
    const connection = await this.acquireConnection()
    try {
      return await connection.raw(query)
    } finally {
      connection.release()
    }
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    const { transactionSql, durable, searches, isLong, usesOwnPg, limits } = this.#options
    const settings = [
      ...(limits === undefined ? [] : [setTimeoutsSql(limits)]),
      ...(durable === false ? [asynchronousCommitSql] : []),
      ...(searches === true ? [searchByIndexSql] : []),
      ...(isLong === true ? [liftTimeoutsSql('transaction', ['statement_timeout', 'transaction_timeout'])] : []),
    ]
    await connection.begin(
      transactionSql?.begin ?? [beginSql, ...settings].join('; '),
      searches === true && usesOwnPg === true,
    )
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.run(this.#options.transactionSql?.commit ?? 'commit')
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.rollback()
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {}
}

export function createKysely(driver: PostgresDriver): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
}
