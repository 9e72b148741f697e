/** Locks by name, each a row of one table. Source: docs/databases.md (locks). @module */
import { CompiledQuery, sql } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { postgresTypes } from '../schema/migration.js'
import { isCreatedConcurrently } from './postgres-error.js'

/** The row `migration` of this table has the lease of the process that migrates. */
export const lockTable = 'locks'

/**
 * Waits for a lock, which lasts until the transaction ends. The first use of a name inserts the row; concurrent first
 * uses wait for that transaction, and then lock the row.
 */
export async function lockRow(db: Connection, lock: string): Promise<void> {
  const { name } = db.dialect
  const text = `select 1 from ${name(lockTable)} where name = $1 for update`
  const tryLock = async () => (await db.executeQuery(CompiledQuery.raw(text, [lock]))).rows.length > 0
  if (await tryLock()) return
  await sql`insert into ${sql.raw(name(lockTable))} (name) values (${lock}) on conflict do nothing`.execute(db)
  if (!(await tryLock())) throw new Error(`The row of the lock ${lock} was removed; rows of this table must stay.`)
}

/** The most attempts to create the table; each fails only if another process creates it at the same time. */
const maxAttempts = 10

/** Makes the schema and the table of locks, which a migration needs before any other table. */
export async function createLocks(transaction: Engine['transaction'], schema: string): Promise<void> {
  const { integer, code } = postgresTypes
  const columns = `name ${code} not null primary key, holder text, expires_at ${integer}`
  const work = async (db: Connection) => {
    const { name, hasTable } = db.dialect
    if (await hasTable(db, lockTable)) return
    // Even for an existing schema, which an operator may have created, CREATE SCHEMA needs the right to create one.
    const { rows } = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(db)
    if (rows.length === 0) await sql`create schema ${sql.id(schema)}`.execute(db)
    await sql.raw(`create table ${name(lockTable)} (${columns})`).execute(db)
  }
  for (let attempt = 1; ; attempt += 1)
    try {
      return await transaction(work)
    } catch (error) {
      if (!isCreatedConcurrently(error) || attempt === maxAttempts) throw error
    }
}
