/** Runs migrations of PostgreSQL one at a time, and makes indexes while others write. @module */
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type pg from 'pg'
import type { NamedQuery } from '../engine.js'
import type { RawRows } from '../internal/row-view.js'
import type { IndexDefinition } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'
import { lockKey } from './lock-key.js'
import type { PostgresConnection } from './postgres-connection.js'
import { type PostgresDriver, unbounded } from './postgres-driver.js'
import { conflictError, isConflict } from './postgres-error.js'

const pauseMs = 100
/** Longest wait for a table in partitions: others queue behind it. */
const indexLockMs = 1_000

/**
 * Runs `work` while a transaction of its own holds the lock of migrations. The transaction is idle and reads nothing,
 * so that no index waits for it. Others try again and again: a session that waits for a lock would block an index.
 * @throws TypeError For a pool of one connection: the work needs another one.
 */
export async function exclusively<T>(
  pool: pg.Pool,
  schema: string,
  transactor: Kysely<Tables>,
  work: () => Promise<T>,
): Promise<T> {
  if (pool.options.max === 1) throw new TypeError('A migration needs two connections; let the pool have more than one.')
  const key = lockKey(schema, 'migration')
  for (;;) {
    const done = await transactor.transaction().execute(async (db) => {
      const { rows } = await sql
        .raw<{ locked: boolean }>(`select pg_try_advisory_xact_lock(${key}) as locked`)
        .execute(db)
      if (rows[0]?.locked !== true) return null
      // As the last statement: the portal of a query may hold its snapshot until the next one.
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(db)
      return { result: await work() }
    })
    if (done !== null) return done.result
    await delay(pauseMs)
  }
}

/**
 * Makes an index with CREATE INDEX CONCURRENTLY. One that an interrupted run left behind is invalid; it is made again.
 * The server goes on with the statement of a killed process. A lock of the session lasts as long: dropping the index
 * meanwhile would be a deadlock.
 * @throws StoreError `ERR_STORE_BUSY` after a deadlock with another session, or when a table in partitions is locked.
 */
export async function makeIndex(driver: PostgresDriver, schema: string, index: IndexDefinition): Promise<void> {
  const connection = await driver.acquireConnection()
  try {
    // It waits for transactions of others, as long as they take. No statement queues behind it.
    await connection.run(unbounded('session', ['statement_timeout', 'lock_timeout', 'transaction_timeout']))
    while (!(await isLocked(connection, lockKey(schema, 'index')))) await delay(pauseMs)
    await ((await isPartitioned(connection, schema, index.table))
      ? makeInPartitions(connection, schema, index)
      : makeOne(connection, schema, index))
  } catch (error) {
    throw isConflict(error) ? conflictError(error, 1) : error
  } finally {
    connection.discard()
    connection.release()
  }
}

async function makeOne(connection: PostgresConnection, schema: string, index: IndexDefinition): Promise<void> {
  const { name, table, columns } = index
  const isValid = await findIndex((query) => connection.raw(query), schema, name)
  if (isValid === true) return
  if (isValid === false) await connection.run(`drop index concurrently "${schema}"."${name}"`)
  await connection.run(`create index concurrently "${name}" on "${schema}"."${table}" ${columns}`)
}

/** An index of all partitions is valid once each has its own. Later partitions get theirs when they are created. */
async function makeInPartitions(connection: PostgresConnection, schema: string, index: IndexDefinition): Promise<void> {
  const { name, table, columns } = index
  if ((await findIndex((query) => connection.raw(query), schema, name)) === true) return
  await inTime(connection, `create index if not exists "${name}" on only "${schema}"."${table}" ${columns}`)
  const { rows } = await connection.run(
    `select c.relname as table from pg_catalog.pg_inherits p
     join pg_catalog.pg_class c on c.oid = p.inhrelid
     where p.inhparent = '"${schema}"."${table}"'::regclass and not exists (
       select 1 from pg_catalog.pg_index i join pg_catalog.pg_inherits h on h.inhrelid = i.indexrelid
       where i.indrelid = p.inhrelid and h.inhparent = '"${schema}"."${name}"'::regclass)`,
  )
  for (const { table: partition } of rows as { table: string }[]) {
    const own = `${partition}_${name}`
    await makeOne(connection, schema, { name: own, table: partition, columns })
    await inTime(connection, `alter index "${schema}"."${name}" attach partition "${schema}"."${own}"`)
  }
}

/** Waits for its lock as long as others may queue behind it. */
async function inTime(connection: PostgresConnection, statement: string): Promise<void> {
  await connection.run(`set lock_timeout = ${indexLockMs}`)
  await connection.run(statement)
  await connection.run('set lock_timeout = 0')
}

async function isPartitioned(connection: PostgresConnection, schema: string, table: string): Promise<boolean> {
  const { rows } = await connection.run(
    `select 1 from pg_catalog.pg_partitioned_table where partrelid = '"${schema}"."${table}"'::regclass`,
  )
  return rows.length > 0
}

async function isLocked(connection: PostgresConnection, key: string): Promise<boolean> {
  const { rows } = await connection.run(`select pg_try_advisory_lock(${key}) as locked`)
  return (rows as { locked: boolean }[])[0]?.locked === true
}

/** Whether an index is valid; null: there is none. */
export async function findIndex(
  rows: (query: NamedQuery) => Promise<RawRows>,
  schema: string,
  name: string,
): Promise<boolean | null> {
  const { values } = await rows({
    sql: `select i.indisvalid::int from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2`,
    parameters: [schema, name],
  })
  const [row] = values
  return row === undefined ? null : Number(row[0]) === 1
}
