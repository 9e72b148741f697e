/** The driver `pg`: a pool, or one connection. @module */
import { TransactionOpenError } from '../../errors.js'
import type { Bound, PostgresDriver, Row, Work } from './driver.js'
import { sqlState } from './driver.js'

interface Client {
  query(
    query: string | { readonly name?: string; readonly text: string },
    values?: readonly string[],
  ): Promise<Result | readonly Result[]>
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  /** `I` outside of a transaction; newer versions of `pg` say it. */
  getTransactionStatus?(): string | null
}

interface Result {
  readonly rows: readonly Row[]
}

interface Pool extends Pick<Client, 'query'> {
  connect(): Promise<Client & { release(error?: Error): void }>
}

const savepoint = 'payment_version_effect'

/** A connection is lent for each transaction. */
export function pgPoolDriver(pool: Pool, prepare: boolean): PostgresDriver<Client> {
  return {
    ...onClients(pool, prepare),
    async transaction(first, work) {
      const client = await pool.connect()
      const { outcome, broken } = await transaction(client, prepare, first, work)
      client.release(broken)
      return outcome()
    },
  }
}

/** Its transactions take turns. */
export function pgClientDriver(client: Client, prepare: boolean): PostgresDriver<Client> {
  return {
    ...onClients(client, prepare),
    connection: client,
    async transaction(first, work) {
      const { outcome } = await transaction(client, prepare, first, work)
      return outcome()
    },
  }
}

function onClients(outside: Pick<Client, 'query'>, prepare: boolean): Omit<PostgresDriver<Client>, 'transaction'> {
  return {
    survivesIdleTimeout: true,
    query: (tx, bound) => query(tx ?? outside, prepare, bound),
    async nested(tx, first, work) {
      await tx.query(`SAVEPOINT ${savepoint}`)
      try {
        const { result } = await work(tx, await query(tx, prepare, first))
        await tx.query(`RELEASE ${savepoint}`)
        return result
      } catch (error) {
        // Its failure never hides the error that led here.
        await tx.query(`ROLLBACK TO ${savepoint}; RELEASE ${savepoint}`).catch(() => {})
        throw error
      }
    },
  }
}

/** What became of a transaction, and the error after which its connection cannot be used again. */
interface Ended<Value> {
  readonly outcome: () => Value
  readonly broken: Error | undefined
}

/**
 * Begins, works, commits. The savepoint tells at the end whether the transaction is still this one and can be kept: it costs less than
 * the seal, and its two statements travel with BEGIN and COMMIT. When it fails, the server does not reach the COMMIT.
 */
async function transaction<Value>(
  client: Client,
  prepare: boolean,
  first: Bound,
  work: Work<Client, Value>,
): Promise<Ended<Value>> {
  let broken: Error | undefined
  let begun = false
  let breaks = (_: Error) => {}
  // A lent connection that ends between two statements tells only its listeners; without one, the process ends too.
  const lost = new Promise<never>((_, reject) => {
    breaks = (error) => {
      broken = error
      reject(error)
    }
  })
  lost.catch(() => {})
  client.on('error', breaks)
  try {
    const rows = await begin(client, prepare, first)
    begun = true
    const { result, seal } = await Promise.race([work(client, rows), lost])
    await client.query(seal === undefined ? 'COMMIT' : `RELEASE ${savepoint}; COMMIT`)
    return { outcome: () => result, broken }
  } catch (error) {
    const open = !begun && error instanceof TransactionOpenError
    if (!open) await client.query('ROLLBACK').catch((failure: Error) => breaks(failure))
    return {
      outcome() {
        throw error
      },
      broken: open ? error : broken,
    }
  } finally {
    client.removeListener('error', breaks)
  }
}

/**
 * Begins and runs the first statement: in one message, once this connection has it prepared. Inside of another transaction BEGIN only
 * warns, and a COMMIT would end that one. Newer versions of `pg` tell; else, a transaction that is new began with the statement that asks.
 * @throws {@link TransactionOpenError} `ERR_TRANSACTION_OPEN`.
 */
async function begin(client: Client, prepare: boolean, first: Bound): Promise<readonly Row[]> {
  const status = client.getTransactionStatus?.() ?? undefined
  if (status !== undefined && status !== 'I') throw new TransactionOpenError()
  if (status === undefined && !(await beginsAnew(client))) throw new TransactionOpenError()
  const start = `${status === undefined ? '' : `${beginSql}; `}SAVEPOINT ${savepoint}`

  const execute = prepare ? executeSql(client, first) : undefined
  if (execute !== undefined) return lastOf(await client.query(`${start}; ${execute}`)).rows
  await client.query(start)
  const rows = await query(client, prepare, first)
  if (prepare && first.statement.name !== undefined) preparedOn(client).add(first.statement.name)
  return rows
}

const beginSql = 'BEGIN ISOLATION LEVEL READ COMMITTED'

async function beginsAnew(client: Client): Promise<boolean> {
  try {
    const results = await client.query(`${beginSql}; SELECT now() = statement_timestamp() AS fresh`)
    return lastOf(results).rows[0]?.['fresh'] === true
  } catch (error) {
    if (openStates.includes(sqlState(error) ?? '')) return false
    throw error
  }
}

/** The names of the statements that a connection has prepared. */
const prepared = new WeakMap<Client, Set<string>>()

function preparedOn(client: Client): Set<string> {
  const names = prepared.get(client) ?? new Set()
  prepared.set(client, names)
  return names
}

/** A prepared statement as SQL; its values need no quoting, or there is none. */
function executeSql(client: Client, { statement: { name }, values }: Bound): string | undefined {
  if (name === undefined || !preparedOn(client).has(name)) return undefined
  if (!values.every((value) => /^[0-9A-Za-z]*$/.test(value))) return undefined
  return `EXECUTE ${name}(${values.map((value) => `'${value}'`).join(', ')})`
}

async function query(on: Pick<Client, 'query'>, prepare: boolean, bound: Bound): Promise<readonly Row[]> {
  const { text, name } = bound.statement
  return lastOf(await on.query(prepare && name !== undefined ? { name, text } : text, bound.values)).rows
}

/** `pg` gives a list where a message had several statements. */
function lastOf(results: Result | readonly Result[]): Result {
  return (Array.isArray(results) ? results.at(-1) : results) as Result
}

/** How BEGIN fails in another transaction: one that has another isolation level, or one that has failed. */
const openStates = ['25001', '25P02']
