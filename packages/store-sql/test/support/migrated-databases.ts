/**
 * An empty PostgreSQL database with the current schema, which tests reuse one after the other, because migrating and
 * connecting take longer than most tests.
 * @module
 */
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { createStore } from '../../src/create-store.js'
import { createPostgresStore, postgresStoreDefaults } from '../../src/postgres/create-postgres-store.js'
import { createPostgresEngine } from '../../src/postgres/postgres-engine.js'
import { onPostgres } from './on-postgres.js'

const { schema } = postgresStoreDefaults

/**
 * Registers tests that run on one database of a server, one after the other.
 * @param register - Gets the function that empties the database and opens a store on it, and its address.
 */
export function onEmptiedPostgres(
  register: (open: () => ReturnType<typeof openEmptied>, connectionString: () => string) => void,
): void {
  onPostgres('PostgreSQL', ({ connectionString }) => {
    let pool: pg.Pool
    let empty: () => Promise<void>
    beforeAll(async () => {
      const migrating = createPostgresStore({ connectionString: connectionString(), schema })
      await migrating.migrate()
      await migrating.close()
      pool = new pg.Pool({ connectionString: connectionString(), max: 10, pipeline: true })
      empty = await getEmptier(pool)
    })
    afterAll(() => pool?.end())
    const open = async () => {
      await empty()
      return openEmptied(pool, connectionString())
    }
    register(open, () => connectionString())
  })
}

/** A store on the pool of all tests, and others as another process opens them. */
async function openEmptied(pool: pg.Pool, connectionString: string) {
  const store = createStore(createPostgresEngine(pool, { schema, usesOwnPg: true, end: async () => undefined }))
  return { store, openAnother: async () => createPostgresStore({ connectionString }), close: () => store.close() }
}

/** Makes the function that removes all rows. No transaction may run then. */
async function getEmptier(pool: pg.Pool): Promise<() => Promise<void>> {
  const getNames = async (kinds: string) => {
    const query = `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and strpos($2, c.relkind::text) > 0 and not c.relispartition`
    const { rows } = await pool.query<{ name: string }>(query, [schema, kinds])
    return rows.map(({ name }) => name)
  }
  // Rows of locks have names alone.
  const tables = (await getNames('rp')).filter((name) => !['schema_versions', 'locks'].includes(name))
  const filled = tables.map((name) => `select '${name}' as name where exists (select 1 from ${schema}.${name})`)
  const text = filled.join(' union all ')
  const filledTables = async () =>
    (await pool.query<{ name: string }>({ name: 'filled tables', text })).rows.map(({ name }) => `${schema}.${name}`)
  const found = await filledTables()
  // Rows of a migration would be deleted after the first test.
  if (found.length > 0) throw new Error(`After a migration there are rows in ${found.join()}.`)
  const resets = (await getNames('S')).map((name) => `select setval('${schema}.${name}', 1, false)`)
  return async () => {
    const deletes = (await filledTables()).map((table) => `delete from ${table}`)
    // Neither references nor triggers: all rows go.
    if (deletes.length > 0)
      await pool.query(
        ['begin', 'set local session_replication_role = replica', ...deletes, ...resets, 'commit'].join('; '),
      )
  }
}
