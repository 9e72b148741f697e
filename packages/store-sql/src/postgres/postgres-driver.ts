/** A Kysely driver over a `pg` pool that gives back no connection in an unknown state. @module */
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import type { Pool, PoolClient, QueryArrayResult } from 'pg'
import type { NamedQuery } from '../engine.js'
import { KeptQuery } from '../internal/kept-query.js'
import type { RawRows } from '../internal/row-view.js'
import { SentQuery, type SentResult } from '../internal/sent-query.js'
import { closedError, connectError, fromPostgresError, isLost } from './postgres-error.js'
import { queryTextRows } from './text-rows.js'

/** The statements that bound a transaction. */
export interface TransactionWords {
  readonly begin: string
  readonly commit: string
  readonly rollback: string
}

/** How connections are used. */
export interface PostgresDriverOptions {
  /** Whether connections keep the plans of named queries. */
  readonly keepsPlans: boolean
  /** Whether the clients are those of our own `pg`, and so understand its queries, and send one before the last is answered. */
  readonly ownClients?: boolean
  /** How long a statement may stay without an answer, from when it is sent; then its connection is given up. */
  readonly answerTimeoutMs?: number | undefined
  /** Whether what it commits is on the disk then. @default true */
  readonly durable?: boolean
  /** Whether each transaction begins with a search, so that BEGIN can travel with it, and looks everything up by an index. @default false */
  readonly searches?: boolean
  /** Whether its transactions may take as long as they take. @default false */
  readonly isLong?: boolean
  /** What a transaction is made of. @default those of a transaction of its own */
  readonly words?: TransactionWords
}

type Done<Answer> = (error: Error | null | undefined, answer: Answer) => void

/** A connection on loan. In a transaction it refuses everything but the rollback after its first error. */
class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #options: PostgresDriverOptions
  #failure: { readonly error: unknown } | undefined
  /** Whether that is the error of a statement: what was sent after it was not done, whatever its answer. */
  #refused = false
  #lost = false
  #begun: Promise<unknown> = Promise.resolve()
  // Without a listener a connection that breaks while nobody queries it would end the process.
  readonly #onError = (error: Error) => this.#fail(error, true)

  constructor(client: PoolClient, options: PostgresDriverOptions) {
    this.#client = client
    this.#options = options
    client.on('error', this.#onError)
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<SentResult<Row>> {
    const { keepsPlans, ownClients } = this.#options
    const isNamed = query instanceof KeptQuery || query instanceof SentQuery
    // Without its BEGIN it would be committed by itself.
    if (query instanceof SentQuery) await this.#begun
    const answer = this.run(query.sql, query.parameters, isNamed && keepsPlans ? query.name : undefined)
    if (!(query instanceof SentQuery) || ownClients !== true) return { rows: (await answer).rows as Row[] }
    const later = answer.then(({ rows }) => rows as Row[])
    // Its error fails the transaction; where nobody asks for its rows, it must not end the process.
    later.catch(() => undefined)
    return { rows: [], later }
  }

  /** Rows as arrays; integers may be text. */
  async raw({ sql, parameters, name }: NamedQuery): Promise<RawRows> {
    const { keepsPlans, ownClients } = this.#options
    const query = { text: sql, values: [...parameters], ...(keepsPlans && name !== undefined ? { name } : {}) }
    if (ownClients === true) return this.#ask<RawRows>((done) => queryTextRows(this.#client, query, done))
    const { fields, rows } = await this.#ask<QueryArrayResult<unknown[]>>((done) => {
      void this.#client.query({ ...query, rowMode: 'array' }, done)
    })
    return { columns: fields.map((field) => field.name), values: rows }
  }

  // PostgreSQL answers the COMMIT of a failed transaction with a silent ROLLBACK, so a caller that swallowed an error
  // would believe the rest was kept.
  run(text: string, values: readonly unknown[] = [], name?: string): Promise<{ rows: unknown[] }> {
    const query = { text, values: [...values], ...(name === undefined ? {} : { name }) }
    return this.#ask<{ rows: unknown[] }>((done) => {
      void this.#client.query(query, done)
    })
  }

  async #ask<Answer>(send: (done: Done<Answer>) => void): Promise<Answer> {
    this.#throwFailure()
    const answer = await this.#answerOf(send).catch((error) => {
      this.#refused = true
      throw this.#fail(error, isLost(error)).error
    })
    // What was sent before it has failed meanwhile: then a COMMIT was none.
    if (this.#refused) this.#throwFailure()
    return answer
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Begins a transaction; what follows may be sent before that is answered. */
  async begin(text: string, goesOn: boolean): Promise<void> {
    this.#begun = this.run(text)
    // Without a BEGIN the first statement has read, and nothing follows it.
    if (goesOn) this.#begun.catch(() => undefined)
    else await this.#begun
  }

  // By callback and with a timer of its own: the promise and the `query_timeout` of `pg` leave garbage in the old heap that
  // keeps the rows of later queries until a full collection.
  #answerOf<Answer>(send: (done: Done<Answer>) => void): Promise<Answer> {
    const { answerTimeoutMs } = this.#options
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error('Query read timeout'))
      const timer = answerTimeoutMs === undefined ? undefined : setTimeout(late, answerTimeoutMs)
      send((error, answer) => {
        clearTimeout(timer)
        if (error) reject(error)
        else resolve(answer)
      })
    })
  }

  async rollback(): Promise<void> {
    if (this.#lost) return
    try {
      await this.#answerOf((done) => this.#client.query(this.#options.words?.rollback ?? 'rollback', done))
    } catch {
      this.#lost = true // The server rolls back when the connection ends; the first error is the one to report.
    }
  }

  release(): void {
    // The end of a client that was sent statements waits for their answers, which may never come.
    if (this.#lost && this.#options.ownClients === true) streamOf(this.#client)?.destroy()
    this.#client.release(this.#lost)
    this.#client.off('error', this.#onError)
  }

  #fail(error: unknown, lost: boolean) {
    this.#lost ||= lost
    this.#failure ??= { error: fromPostgresError(error) }
    return this.#failure
  }

  // biome-ignore lint/correctness/useYield: streaming is no part of what the store needs
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new TypeError('Streaming is not supported.')
  }
}

function streamOf(client: PoolClient): { destroy(): void } | undefined {
  return (client as unknown as { readonly connection?: { readonly stream?: { destroy(): void } } }).connection?.stream
}

const begin = 'begin isolation level read committed'
// The statements of claims and settlements keep plans made without values, perhaps while the tables were empty: they must not be scans of
// tables that grow.
const byIndex = `set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off; set local enable_bitmapscan = off`
const unbounded = 'set local statement_timeout = 0'
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

  /** Runs one statement on a connection of its own. */
  async rows(query: NamedQuery): Promise<RawRows> {
    const connection = await this.acquireConnection()
    try {
      return await connection.raw(query)
    } finally {
      connection.release()
    }
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    const { words, durable, searches, isLong, ownClients } = this.#options
    const settings = [
      ...(durable === false ? [hastily] : []),
      ...(searches === true ? [byIndex] : []),
      ...(isLong === true ? [unbounded] : []),
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

  /** Refuses new work; the pool's owner ends the pool. */
  close(): void {
    this.#closed = true
  }

  async destroy(): Promise<void> {}
}
