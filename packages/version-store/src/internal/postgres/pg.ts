/** The driver `pg`: a pool, or one connection. @module */
import { TransactionOpenError } from '../../errors.js'
import { type Bound, type PostgresDriver, type Row, savepoint, sqlState, type Work, workAtSavepoint } from './driver.js'

// `pg` remembers which prepared statements its connection has, and can be wrong. A prepared statement belongs to a
// session of the server, and a pooler may switch the connection to another session. A pooler knows only statements that
// were prepared by the protocol, so an EXECUTE in SQL may miss its statement. DISCARD ALL and DEALLOCATE ALL drop
// prepared statements without notice to `pg`.

type PreparedStatements = ReturnType<typeof createPreparedStatements>

/**
 * Creates the state of prepared statements on a driver's connections.
 * @param prepare - Whether EXECUTE and names are used at all.
 */
function createPreparedStatements(prepare: boolean) {
  const allowed = { executed: prepare, named: prepare }
  const names = new WeakMap<object, Set<string>>()
  const distrusted = new WeakSet<object>()
  /** The name under which `pg` prepares the statement on a connection, if it should. */
  const nameOn = (connection: object, { statement: { name } }: Bound) =>
    allowed.named && !distrusted.has(connection) ? name : undefined

  return {
    nameOn,
    /** The EXECUTE of the statement, if the connection has prepared it. */
    executeSql(connection: object, bound: Bound): string | undefined {
      const name = allowed.executed ? nameOn(connection, bound) : undefined
      if (name === undefined || !names.get(connection)?.has(name)) return undefined
      // Other values would need quoting.
      if (!bound.values.every((value) => /^[0-9A-Za-z]*$/.test(value))) return undefined
      return `EXECUTE ${name}(${bound.values.map((value) => `'${value}'`).join(', ')})`
    },
    /** Notes that the connection has prepared the statement of this name. */
    notePrepared(connection: object, name: string): void {
      names.set(connection, (names.get(connection) ?? new Set()).add(name))
    },
    /**
     * Returns whether a statement of the store failed because its prepared statement was missing, or already existed.
     * The failed statement changed nothing and can run again in another transaction. From then on this connection uses
     * no prepared statements, and every connection gives up the failed way: `how`.
     */
    noteLost(connection: object, error: unknown, how: keyof typeof allowed): boolean {
      if (!lostStatementStates.includes(sqlState(error) ?? '')) return false
      allowed[how] = false
      distrusted.add(connection)
      return true
    },
  }
}

/** The SQLSTATEs of a prepared statement that is missing, and of one that already exists. */
const lostStatementStates = ['26000', '42P05']

interface Client {
  query(
    query: string | { readonly name?: string; readonly text: string },
    values?: readonly string[],
  ): Promise<Result | readonly Result[]>
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  /** `I` outside of a transaction. Older versions of `pg` do not have the method. */
  getTransactionStatus?(): string | null
}

interface Result {
  readonly rows: readonly Row[]
}

interface Pool extends Pick<Client, 'query'> {
  readonly totalCount: number
  connect(): Promise<Client & { release(error?: Error): void }>
}

function isPool(database: Client | Pool): database is Pool {
  return typeof (database as Partial<Pool>).totalCount === 'number'
}

/**
 * Creates a driver on a pool, which lends a connection to each transaction, or on one connection, whose users must run
 * one transaction at a time.
 */
export function createPgDriver(database: Client | Pool, prepare: boolean): PostgresDriver<Client> {
  const statements = createPreparedStatements(prepare)
  return {
    ...(isPool(database) ? {} : { connection: database }),
    survivesIdleTimeout: true,
    // Inside of a transaction, use no name: a lost statement would abort the transaction, which may be the caller's.
    query: (tx, bound) =>
      tx === undefined ? queryWithRetry(database, statements, bound, async () => {}) : query(tx, bound, undefined),
    async transaction(first, work) {
      if (!isPool(database)) return transaction(database, statements, first, work, () => {})
      const client = await database.connect()
      return transaction(client, statements, first, work, (broken) => client.release(broken))
    },
    nested: (tx, first, work) =>
      workAtSavepoint(
        (sql) => tx.query(sql),
        async () => work(tx, await queryWithRetry(tx, statements, first, () => tx.query(`ROLLBACK TO ${savepoint}`))),
      ),
  }
}

/** Runs a statement under its name, and again without a name if the prepared statement was lost. */
async function queryWithRetry(
  client: Pick<Client, 'query'>,
  statements: PreparedStatements,
  bound: Bound,
  undo: () => Promise<unknown>,
): Promise<readonly Row[]> {
  try {
    return await query(client, bound, statements.nameOn(client, bound))
  } catch (error) {
    if (!statements.noteLost(client, error, 'named')) throw error
    await undo()
    return query(client, bound, undefined)
  }
}

/**
 * Begins, does the work, commits. Releasing a savepoint at the end proves that this transaction is still open and can
 * commit; if the release fails, the COMMIT does not run. The savepoint replaces the commit check and is cheaper,
 * because its two statements are sent together with BEGIN and COMMIT.
 * @param release - Gets the error that makes the connection unusable, if there is one.
 */
async function transaction<Value>(
  client: Client,
  statements: PreparedStatements,
  first: Bound,
  work: Work<Client, Value>,
  release: (broken: Error | undefined) => void,
): Promise<Value> {
  let broken: Error | undefined
  let hasBegun = false
  let onBroken = (_: Error) => {}
  // When a lent connection breaks between two statements, `pg` emits `error`. Without a listener that would end the
  // process.
  const connectionLost = new Promise<never>((_, reject) => {
    onBroken = (error) => {
      broken = error
      reject(error)
    }
  })
  connectionLost.catch(() => {})
  client.on('error', onBroken)
  try {
    const rows = await begin(client, statements, first).catch(async (error: Error) => {
      if (!(error instanceof StatementLostError)) throw error
      // The failed statements changed nothing. A pool must not reuse this connection, so it is released as broken.
      await client.query('ROLLBACK')
      broken = error
      return begin(client, statements, first)
    })
    hasBegun = true
    const { result, commitCheck } = await Promise.race([work(client, rows), connectionLost])
    await client.query(commitCheck === undefined ? 'COMMIT' : `RELEASE ${savepoint}; COMMIT`)
    return result
  } catch (error) {
    if (!hasBegun && error instanceof TransactionOpenError) broken = error
    else await client.query('ROLLBACK').catch((failure: Error) => onBroken(failure))
    throw error
  } finally {
    client.removeListener('error', onBroken)
    release(broken)
  }
}

/** The first statement found no prepared statement, and changed nothing. */
class StatementLostError extends Error {}

/**
 * Begins and runs the first statement, in one message once the connection has prepared it.
 * Inside of another transaction BEGIN only warns, and a COMMIT would end that transaction. Newer versions of `pg` know
 * whether a transaction is open. With older versions a query asks the server whether the transaction is new.
 * @throws {@link TransactionOpenError} `ERR_TRANSACTION_OPEN`.
 * @throws {@link StatementLostError} At most once on a connection.
 */
async function begin(client: Client, statements: PreparedStatements, first: Bound): Promise<readonly Row[]> {
  const status = client.getTransactionStatus?.() ?? undefined
  if (status !== undefined && status !== 'I') throw new TransactionOpenError()
  if (status === undefined && !(await beginsAnew(client))) throw new TransactionOpenError()
  const start = `${status === undefined ? '' : `${beginSql}; `}SAVEPOINT ${savepoint}`

  const execute = statements.executeSql(client, first)
  const rethrow = (how: 'executed' | 'named') => (error: unknown) => {
    throw statements.noteLost(client, error, how) ? new StatementLostError('Statement lost.', { cause: error }) : error
  }
  if (execute !== undefined) return getLast(await client.query(`${start}; ${execute}`).catch(rethrow('executed'))).rows
  await client.query(start)
  const name = statements.nameOn(client, first)
  if (name === undefined) return query(client, first, undefined)
  const rows = await query(client, first, name).catch(rethrow('named'))
  statements.notePrepared(client, name)
  return rows
}

const beginSql = 'BEGIN ISOLATION LEVEL READ COMMITTED'

async function beginsAnew(client: Client): Promise<boolean> {
  try {
    const results = await client.query(`${beginSql}; SELECT now() = statement_timestamp() AS fresh`)
    return getLast(results).rows[0]?.['fresh'] === true
  } catch (error) {
    if (openStates.includes(sqlState(error) ?? '')) return false
    throw error
  }
}

async function query(client: Pick<Client, 'query'>, { statement: { text }, values }: Bound, name: string | undefined) {
  return getLast(await client.query(name === undefined ? text : { name, text }, values)).rows
}

/** `pg` gives a list where a message had several statements. */
function getLast(results: Result | readonly Result[]): Result {
  return (Array.isArray(results) ? results.at(-1) : results) as Result
}

/** The SQLSTATEs of BEGIN in an open transaction: of another isolation level, or one that has failed. */
const openStates = ['25001', '25P02']
