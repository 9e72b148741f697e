/** A connection of a `pg` pool on loan, which is not given back in an unknown state. @module */
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import type { PoolClient, QueryArrayResult } from 'pg'
import type { NamedQuery } from '../engine.js'
import { PreparedQuery } from '../internal/prepared-query.js'
import { type RawRows, rowView } from '../internal/row-view.js'
import { SentQuery, type SentResult } from '../internal/sent-query.js'
import { fromPostgresError, isLost } from './postgres-error.js'
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
  /**
   * Whether the clients are those of our own `pg`, and so understand its queries, and send one before the last is
   * answered.
   */
  readonly ownClients?: boolean
  /** How long a statement may stay without an answer, from when it is sent; then its connection is given up. */
  readonly answerTimeoutMs?: number | undefined
  /** Whether what it commits is on the disk then. @default true */
  readonly durable?: boolean
  /**
   * Whether each transaction begins with a search, so that BEGIN can travel with it, and looks everything up by an
   * index.
   * @default false
   */
  readonly searches?: boolean
  /** Whether its transactions may take as long as they take. @default false */
  readonly isLong?: boolean
  /** What a transaction is made of. @default those of a transaction of its own */
  readonly words?: TransactionWords
}

type Done<Answer> = (error: Error | null | undefined, answer: Answer) => void

/** A connection on loan. In a transaction it refuses everything but the rollback after its first error. */
export class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #options: PostgresDriverOptions
  #failure: { readonly error: unknown } | undefined
  /** Whether a statement failed: then what was sent after it was not done, though COMMIT is answered like any other. */
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
    const isPrepared = query instanceof PreparedQuery || query instanceof SentQuery
    // Only a search may go along with BEGIN: without that, what writes would be committed by itself.
    if (!(query instanceof PreparedQuery)) await this.#begun
    const answer = (isPrepared ? this.#viewed(query) : this.run(query.sql, query.parameters)) as Promise<{
      rows: Row[]
    }>
    if (!(query instanceof SentQuery) || this.#options.ownClients !== true) return answer
    const later = answer.then(({ rows }) => rows)
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

  /** The same, to be read field by field. */
  async #viewed(query: NamedQuery): Promise<{ rows: object[] }> {
    const { columns, values } = await this.raw(query)
    return { rows: values.length === 0 ? [] : values.map(rowView(columns)) }
  }

  // PostgreSQL answers the COMMIT of a failed transaction with a silent ROLLBACK, so a caller that swallowed an error
  // would believe the rest was kept.
  run(text: string, values: readonly unknown[] = []): Promise<{ rows: unknown[] }> {
    const query = { text, values: [...values] }
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

  // By callback and with a timer of its own: the promise and the `query_timeout` of `pg` leave garbage in the old heap
  // that
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
