/** Everything that a database holds, value by value. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openSqlite } from '../../../cli/src/files.js'
import { postgresMissing, startPostgres } from '../../../store-sql/test/postgres.js'
import type { Sink } from './canaries.js'

export interface StoredValue {
  /** `table.column`. */
  readonly column: string
  /** The text of it; bytes as latin1 and as hex. */
  readonly text: string
}

/** For `describe.each`: the name of an engine, why it is missing, and a function that opens a new database. */
export const engines: readonly [string, string | null, typeof openOnPostgres][] = [
  ['SQLite', null, async () => openOnSqlite()],
  ['PostgreSQL', postgresMissing, openOnPostgres],
]

function openOnSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'payment-integration-canary-'))
  const path = join(folder, 'canary.db')
  return {
    url: `sqlite:${path}`,
    values: async () => sqliteValues(path),
    /** The raw files. */
    files: (): readonly Sink[] =>
      ['', '-wal', '-shm']
        .filter((end) => existsSync(`${path}${end}`))
        .map((end) => ({ where: `canary.db${end}`, text: readFileSync(`${path}${end}`, 'latin1') })),
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** @param password - Part of the URL; the server does not ask for it. */
async function openOnPostgres(password = 'unused'): Promise<ReturnType<typeof openOnSqlite>> {
  const { connectionString, remove } = await startPostgres()
  const url = connectionString.replace('postgres@', `postgres:${password}@`)
  return { url, values: () => postgresValues(connectionString), files: () => [], remove }
}

function sqliteValues(path: string): StoredValue[] {
  const database = openSqlite(path)
  try {
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[]
    return tables.flatMap(({ name }) => {
      const rows = database.prepare(`select * from "${name}"`).all() as Record<string, unknown>[]
      return rows.flatMap((row) => getValues(name, row))
    })
  } finally {
    database.close()
  }
}

/** All values of every schema that is not PostgreSQL's own. */
async function postgresValues(connectionString: string): Promise<StoredValue[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ schema: string; name: string }>(
      // Partitions are read as the table that they belong to.
      `select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and not c.relispartition and n.nspname not in ('pg_catalog', 'information_schema')`,
    )
    const values: StoredValue[] = []
    for (const { schema, name } of tables) {
      const { rows } = await client.query<Record<string, unknown>>(`select * from "${schema}"."${name}"`)
      values.push(...rows.flatMap((row) => getValues(name, row)))
    }
    return values
  } finally {
    await client.end()
  }
}

function getValues(table: string, row: Record<string, unknown>): StoredValue[] {
  return Object.entries(row)
    .filter(([, value]) => value !== null)
    .map(([column, value]) => ({ column: `${table}.${column}`, text: toText(value) }))
}

function toText(value: unknown): string {
  if (!(value instanceof Uint8Array)) return typeof value === 'object' ? JSON.stringify(value) : String(value)
  const bytes = Buffer.from(value)
  return `${bytes.toString('latin1')}\n${bytes.toString('hex')}`
}
