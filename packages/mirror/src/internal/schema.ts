/** The SQL that creates the tables. @module */
import type { Dialect } from '../table-options.js'
import { factColumns, keyColumns, snapshotColumns } from './columns.js'
import type { TableNames } from './names.js'

/** A row whose newest version was not read from the read API yet. */
export const incomplete = '(body_version IS NULL OR body_version < version)'

/** Every column, in the order of the tables' documentation. */
export const paymentColumns = [...keyColumns, ...snapshotColumns, ...factColumns, 'updated_at'] as const

const keys: ReadonlySet<string> = new Set(keyColumns)

/** Statements that create tables and indexes where they are missing. */
export function schemaSql(dialect: Dialect, { payments, state, index }: TableNames): string[] {
  const types =
    dialect === 'postgres'
      ? { text: 'text', key: 'text COLLATE "C"', whole: 'bigint', time: 'timestamptz', json: 'json' }
      : { text: 'TEXT', key: 'TEXT', whole: 'INTEGER', time: 'TEXT', json: 'TEXT' }
  const typeOf = (column: string): string => {
    if (keys.has(column)) return `${types.key} NOT NULL`
    if (column === 'version') return `${types.whole} NOT NULL`
    if (column === 'updated_at') return `${types.time} NOT NULL`
    if (column === 'body_version') return types.whole
    if (column === 'block_timestamp') return types.time
    return column === 'body' ? types.json : types.text
  }
  const columns = paymentColumns.map((column) => `  ${column} ${typeOf(column)},\n`).join('')
  return [
    `CREATE TABLE IF NOT EXISTS ${payments} (\n${columns}  PRIMARY KEY (${keyColumns.join(', ')})\n)`,
    `CREATE INDEX IF NOT EXISTS ${index('newest')} ON ${payments} (integration_address, block_timestamp)`,
    `CREATE INDEX IF NOT EXISTS ${index('incomplete')} ON ${payments} (${keyColumns.join(', ')}) WHERE ${incomplete}`,
    `CREATE TABLE IF NOT EXISTS ${state} (
  integration_address ${types.key} NOT NULL PRIMARY KEY,
  checkpoint ${types.json},
  reconciled_at ${types.time},
  reconciled_fully_at ${types.time},
  delivered_at ${types.time}
)`,
  ]
}
