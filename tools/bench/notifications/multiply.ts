/** Doubles payments, snapshots and outbox rows by plain SQL: a million rows in about a minute. @module */
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import type { BenchDatabase } from '../read-api/database.js'

/** Columns that change in a copy: ids, shifted by the number of rows. */
const keys: Readonly<Record<string, readonly string[]>> = {
  payments: ['id'],
  snapshots: ['id', 'payment_id'],
  outbox: ['id'],
}

/** Doubles the rows so often. Each payment gets its own transaction. */
export async function multiply({ engine, url }: BenchDatabase, times: number): Promise<void> {
  if (engine === 'SQLite') {
    const database = new DatabaseSync(url.slice('sqlite:'.length))
    const columnsOf = (table: string) =>
      (database.prepare(`select name from pragma_table_info('${table}')`).all() as { name: string }[]).map(
        ({ name }) => name,
      )
    const statements = Object.keys(keys).map((table) => doubling(table, table, columnsOf(table), 'randomblob(32)'))
    for (let time = 0; time < times; time += 1) database.exec(['begin', ...statements, 'commit'].join(';'))
    database.close()
    return
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const statements: string[] = []
  for (const table of Object.keys(keys)) {
    const { rows } = await client.query<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_schema = 'payment_integration' and table_name = $1`,
      [table],
    )
    const random = 'sha256(random()::text::bytea)'
    statements.push(
      doubling(
        table,
        `payment_integration.${table}`,
        rows.map(({ name }) => name),
        random,
      ),
    )
  }
  for (let time = 0; time < times; time += 1) await client.query(['begin', ...statements, 'commit'].join(';'))
  await client.end()
}

/** One statement that copies every row; ids are dense from 1, so the copies follow the originals. */
function doubling(table: string, name: string, columns: readonly string[], randomHash: string): string {
  const moved = keys[table] ?? []
  const id = moved.at(-1)
  const values = columns.map((column) => {
    if (moved.includes(column)) return `${column} + (select max(${id}) from ${name})`
    return column === 'tx_hash' ? randomHash : column
  })
  const overriding = name === table ? '' : 'overriding system value'
  return `insert into ${name} (${columns.join(', ')}) ${overriding} select ${values.join(', ')} from ${name}`
}
