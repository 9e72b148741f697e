/** A Kysely driver over a `pg` pool that gives back no connection in an unknown state. @module */
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { closedError, connectError, fromPostgresError, isLost } from './postgres-error.js'

/** A connection on loan. In a transaction it refuses everything but the rollback after its first error. */
class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  #failure: { readonly error: unknown } | undefined
  #lost = false
  // Without a listener a connection that breaks while nobody queries it would end the process.
  readonly #onError = (error: Error) => this.#fail(error, true)

  constructor(client: PoolClient) {
    this.#client = client
    client.on('error', this.#onError)
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows } = await this.run(sql, parameters)
    return { rows: rows as Row[] }
  }

  // PostgreSQL answers the COMMIT of a failed transaction with a silent ROLLBACK, so a caller that swallowed an error
  // would believe the rest was kept.
  async run(text: string, values: readonly unknown[] = []): Promise<{ rows: unknown[] }> {
    if (this.#failure !== undefined) throw this.#failure.error
    try {
      return await this.#client.query(text, [...values])
    } catch (error) {
      throw this.#fail(error, isLost(error)).error
    }
  }

  async rollback(): Promise<void> {
    if (this.#lost) return
    try {
      await this.#client.query('rollback')
    } catch {
      this.#lost = true // The server rolls back when the connection ends; the first error is the one to report.
    }
  }

  release(): void {
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

/** Connections of a pool. */
export class PostgresDriver implements Driver {
  readonly #pool: Pool
  #closed = false

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    if (this.#closed) throw closedError()
    try {
      return new PostgresConnection(await this.#pool.connect())
    } catch (error) {
      throw connectError(error)
    }
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    await connection.run('begin isolation level read committed')
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.run('commit')
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
