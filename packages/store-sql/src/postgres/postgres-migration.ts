/** Runs migrations of PostgreSQL one at a time, and creates indexes without blocking writers. @module */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { NamedQuery } from '../engine.js'
import type { RawRows } from '../internal/values.js'
import type { IndexDefinition } from '../schema/migration.js'
import { liftTimeoutsSql, type PostgresConnection, type PostgresDriver } from './postgres-connection.js'
import { isConflict, isCreatedConcurrently, toConflictError } from './postgres-error.js'
import { lockTable } from './row-locks.js'

const pauseMs = 100
/** The longest wait for the lock of a partitioned table, in milliseconds: other statements queue behind the wait. */
const indexLockMs = 1_000
/** The lease of migrations, and the interval of its renewals. */
const [leaseMs, renewMs] = [15_000, 5_000]
/** A lease that expires further ahead was taken while the database's clock was ahead. */
const maxLeaseMs = 600_000

/**
 * Runs `work` while this process has the migration lease. (A transaction with a lock would stop vacuum for as long as
 * the migration takes.) If a stalled process loses its lease, another one may begin: each step locks the schema and
 * checks that no other process has run it.
 */
export async function runExclusively<T>(
  run: (query: NamedQuery) => Promise<RawRows>,
  qualify: (table: string) => string,
  work: () => Promise<T>,
): Promise<T> {
  const holder = randomUUID()
  const table = qualify(lockTable)
  const now = `cast(extract(epoch from statement_timestamp()) * 1000 as bigint)`
  const acquire = async () => {
    const { values } = await run({
      sql: `insert into ${table} as l (name, holder, expires_at) values ('migration', $1, ${now} + ${leaseMs})
        on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
        where l.holder is null or l.holder = excluded.holder or l.expires_at <= ${now}
          or l.expires_at > ${now} + ${maxLeaseMs} returning 1 as acquired`,
      parameters: [holder],
    })
    return values.length > 0
  }
  while (!(await acquire())) await delay(pauseMs)
  // A late renewal must not take the lease again after its release.
  const renew = `update ${table} set expires_at = ${now} + ${leaseMs} where name = 'migration' and holder = $1`
  // A lease that cannot be renewed expires; the steps are safe without it.
  const timer = setInterval(() => void run({ sql: renew, parameters: [holder] }).catch(() => undefined), renewMs)
  timer.unref()
  try {
    return await work()
  } finally {
    clearInterval(timer)
    const sql = `update ${table} set holder = null, expires_at = null where name = 'migration' and holder = $1`
    await run({ sql, parameters: [holder] }).catch(() => undefined)
  }
}

/**
 * Creates an index, again if an interrupted run left it invalid. `keepsSession`: the connection is one session, whose
 * time limits may be lifted.
 */
export async function createIndex(
  driver: PostgresDriver,
  schema: string,
  index: IndexDefinition,
  keepsSession: boolean,
): Promise<void> {
  const connection = await driver.acquireConnection()
  try {
    // The build waits for running transactions without limit; no statement queues behind it.
    if (keepsSession)
      await connection.run(liftTimeoutsSql('session', ['statement_timeout', 'lock_timeout', 'transaction_timeout']))
    const partitionedText = `select 1 from pg_catalog.pg_partitioned_table
      where partrelid = '"${schema}"."${index.table}"'::regclass`
    await ((await hasRows(connection, partitionedText))
      ? createPartitionedIndex(connection, schema, index)
      : createPlainIndex(connection, schema, index))
  } catch (error) {
    throw isConflict(error) || isCreatedConcurrently(error) ? toConflictError(error, 1) : error
  } finally {
    connection.discard()
    connection.release()
  }
}

async function createPlainIndex(connection: PostgresConnection, schema: string, index: IndexDefinition): Promise<void> {
  const { name, table, columns } = index
  // The server continues the statement of a killed process: dropping its index meanwhile would deadlock.
  const runningText = `select 1 from pg_catalog.pg_stat_progress_create_index
    where relid = '"${schema}"."${table}"'::regclass and pid <> pg_backend_pid()`
  while (await hasRows(connection, runningText)) await delay(pauseMs)
  const isValid = await readIndexValidity((query) => connection.raw(query), schema, name)
  if (isValid === true) return
  if (isValid === false) await connection.run(`drop index concurrently if exists "${schema}"."${name}"`)
  await connection.run(`create index concurrently "${name}" on "${schema}"."${table}" ${columns}`)
}

/** A partitioned index is valid once each partition has its own; later partitions get theirs when they are created. */
async function createPartitionedIndex(
  connection: PostgresConnection,
  schema: string,
  index: IndexDefinition,
): Promise<void> {
  const { name, table, columns } = index
  if ((await readIndexValidity((query) => connection.raw(query), schema, name)) === true) return
  await runWithLockTimeout(connection, `create index if not exists "${name}" on only "${schema}"."${table}" ${columns}`)
  const { rows } = await connection.run(
    `select c.relname as table from pg_catalog.pg_inherits p
     join pg_catalog.pg_class c on c.oid = p.inhrelid
     where p.inhparent = '"${schema}"."${table}"'::regclass and not exists (
       select 1 from pg_catalog.pg_index i join pg_catalog.pg_inherits h on h.inhrelid = i.indexrelid
       where i.indrelid = p.inhrelid and h.inhparent = '"${schema}"."${name}"'::regclass)`,
  )
  for (const { table: partition } of rows as { table: string }[]) {
    const indexName = `${partition}_${name}`
    await createPlainIndex(connection, schema, { name: indexName, table: partition, columns })
    const attachment = `alter index "${schema}"."${name}" attach partition "${schema}"."${indexName}"`
    await runWithLockTimeout(connection, attachment)
  }
}

async function runWithLockTimeout(connection: PostgresConnection, statement: string): Promise<void> {
  try {
    await connection.run(`begin; set local lock_timeout = ${indexLockMs}; ${statement}; commit`)
  } catch (error) {
    await connection.rollback()
    throw error
  }
}

const hasRows = async (connection: PostgresConnection, text: string) => (await connection.run(text)).rows.length > 0

/** Whether an index is valid; null if it does not exist. */
export async function readIndexValidity(
  run: (query: NamedQuery) => Promise<RawRows>,
  schema: string,
  name: string,
): Promise<boolean | null> {
  const { values } = await run({
    sql: `select i.indisvalid::int from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2`,
    parameters: [schema, name],
  })
  const [row] = values
  return row === undefined ? null : Number(row[0]) === 1
}
