/** Everything that a database holds, value by value. */
import pg from 'pg'
import { openSqlite } from '../../../cli/src/files.js'

/** One value of one row. */
export interface StoredValue {
  /** `table.column`. */
  readonly column: string
  /** The text of it; bytes as latin1 and as hex. */
  readonly text: string
}

/** All values of a SQLite file. */
export function sqliteValues(path: string): StoredValue[] {
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
export async function postgresValues(connectionString: string): Promise<StoredValue[]> {
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
