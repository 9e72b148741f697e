/** Kysely drivers over one SQLite file: one for transactions, one for reads. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CompiledQuery, type DatabaseConnection, type Driver, DummyDriver, type QueryResult } from 'kysely'
import { PreparedQuery, rejectStream, SentQuery } from '../internal/statements.js'
import { createRowView } from '../internal/values.js'
import { RepeatedQuery } from './sqlite-dialect.js'
import { convertSqliteError } from './sqlite-error.js'
import type { SqliteFile, SqliteHandle, Synchronous } from './sqlite-file.js'
import { waitForLock } from './sqlite-file.js'

// SQLite blocks this thread, so a bulk insert yields to the event loop after this time.
const maxMsWithoutYield = 10
/** Rows between two checks of the time: about a millisecond. */
const rowsBetweenChecks = 64

/** A borrowed connection. After its first error it accepts only the rollback. */
class WriteConnection implements DatabaseConnection {
  readonly #handle: SqliteHandle
  readonly release: () => void
  readonly streamQuery = rejectStream
  #failure: { readonly error: unknown } | undefined
  #lastYield = performance.now()

  constructor(handle: SqliteHandle, release: () => void) {
    this.#handle = handle
    this.release = release
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (query instanceof RepeatedQuery) return { rows: [], numAffectedRows: BigInt(await this.#repeat(query)) }
    await this.#yieldTurn()
    const { sql, parameters } = query
    const isPrepared = query instanceof PreparedQuery || query instanceof SentQuery
    if (!isPrepared) return this.run(() => ({ rows: this.#handle.all(sql, parameters) as Row[] }))
    const { columns, values } = this.run(() => this.#handle.raw(sql, parameters))
    return { rows: values.map(createRowView(columns)) as Row[] }
  }

  async #repeat({ sql, rows }: RepeatedQuery): Promise<number> {
    let written = 0
    for (let from = 0; from < rows.length; from += rowsBetweenChecks) {
      await this.#yieldTurn()
      written += this.run(() => {
        let part = 0
        for (const row of rows.slice(from, from + rowsBetweenChecks)) part += this.#handle.run(sql, row)
        return part
      })
    }
    return written
  }

  async #yieldTurn(): Promise<void> {
    if (performance.now() - this.#lastYield <= maxMsWithoutYield) return
    await nextTurn()
    this.#lastYield = performance.now()
  }

  // Some errors end SQLite's transaction, and a later statement would commit by itself. So after an error all later
  // statements reject, even if the caller caught the error.
  run<T>(work: () => T): T {
    if (this.#failure !== undefined) throw this.#failure.error
    try {
      return work()
    } catch (error) {
      this.#failure = { error: convertSqliteError(error) }
      throw this.#failure.error
    }
  }

  begin(busyTimeoutMs: number): Promise<void> {
    // IMMEDIATE takes the write lock now, so that no later lock upgrade fails.
    return waitForLock(busyTimeoutMs, () => this.#handle.exec('begin immediate')).catch((error: unknown) => {
      throw convertSqliteError(error)
    })
  }

  commit(): void {
    this.run(() => this.#handle.exec('commit'))
  }

  rollback(): void {
    try {
      this.#handle.exec('rollback')
    } catch {
      // The first error has ended the transaction too, and is the one to report.
    }
  }
}

/** Transactions: one at a time, each on the writing connection from BEGIN IMMEDIATE to COMMIT. */
export class SqliteWriteDriver implements Driver {
  readonly #file: SqliteFile
  readonly #synchronous: Synchronous

  constructor(file: SqliteFile, synchronous: Synchronous = 'full') {
    this.#file = file
    this.#synchronous = synchronous
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<WriteConnection> {
    const release = await this.#file.lockWriter()
    try {
      const open = await this.#file.open()
      open.synchronize(this.#synchronous)
      return new WriteConnection(open.writer, release)
    } catch (error) {
      release()
      throw error
    }
  }

  async beginTransaction(connection: WriteConnection): Promise<void> {
    await connection.begin(this.#file.busyTimeoutMs)
  }

  async commitTransaction(connection: WriteConnection): Promise<void> {
    connection.commit()
  }

  async rollbackTransaction(connection: WriteConnection): Promise<void> {
    connection.rollback()
  }

  async releaseConnection(connection: WriteConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {}
}

export async function readWith<Rows>(file: SqliteFile, read: (reader: SqliteHandle) => Rows): Promise<Rows> {
  const { reader } = file.opened() ?? (await file.open())
  try {
    return await waitForLock(file.busyTimeoutMs, () => read(reader))
  } catch (error) {
    throw convertSqliteError(error)
  }
}

export class SqliteReadDriver extends DummyDriver {
  readonly #file: SqliteFile

  constructor(file: SqliteFile) {
    super()
    this.#file = file
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return {
      executeQuery: async <Row>({ sql, parameters }: CompiledQuery) => ({
        rows: (await readWith(this.#file, (reader) => reader.all(sql, parameters))) as Row[],
      }),
      streamQuery: rejectStream,
    }
  }

  override async beginTransaction(): Promise<void> {
    throw new TypeError('The reading connection has no transactions.')
  }
}
