/** The table of versions in SQLite. Source: docs/interface.md 6, receiver obligations. @module */
import { normalizeKey } from '../payment-key.js'
import type { SqliteDatabase } from '../sqlite-database.js'
import type { PaymentKey } from '../version-store.js'
import { type PageKey, pageSize } from './pages.js'

/** A payment as the table's primary key has it. */
export type Columns = readonly [integrationAddress: string, chainId: string, txHash: string]

/** @throws {TypeError} When a part of the key is missing, empty or no string. */
export function columnsOf(key: PaymentKey): Columns {
  const { integrationAddress, chainId, txHash } = normalizeKey(key)
  return [integrationAddress, chainId, txHash]
}

/** Reads and writes versions. */
export interface Statements {
  read(key: Columns): number | undefined
  write(key: Columns, version: number): void
}

/** Creates the table where it is missing. Reuse the statements only after their transaction was committed. */
export function prepareStatements(database: SqliteDatabase, table: string): Statements {
  database.exec(`CREATE TABLE IF NOT EXISTS ${table} (
    integration_address TEXT NOT NULL,
    chain_id TEXT NOT NULL,
    tx_hash TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    PRIMARY KEY (integration_address, chain_id, tx_hash)
  ) WITHOUT ROWID`)
  const read = prepareRead(database, table)
  const upsert = database.prepare(
    `INSERT INTO ${table} (integration_address, chain_id, tx_hash, version) VALUES (?, ?, ?, ?)
     ON CONFLICT (integration_address, chain_id, tx_hash) DO UPDATE SET version = excluded.version`,
  )
  return { read, write: (key, version) => void upsert.run(...key, version) }
}

/** Reads without creating anything: where there is no table yet, no payment has a version. */
export function readVersion(database: SqliteDatabase, table: string, key: Columns): number | undefined {
  return whereTable(() => prepareRead(database, table)(key))
}

/** The payments of an integration after this key. */
export function readPage(database: SqliteDatabase, table: string, address: string, after: PageKey): PageKey[] {
  const select = () =>
    database
      .prepare(
        `SELECT chain_id, tx_hash FROM ${table}
         WHERE integration_address = ? AND (chain_id, tx_hash) > (?, ?) ORDER BY chain_id, tx_hash LIMIT ${pageSize}`,
      )
      .all(address, ...after)
  return (whereTable(select) ?? []).map((row) => columnsIn<[chainId: string, txHash: string]>(row))
}

/** By their places: a connection may give rows as arrays, as node:sqlite with `returnArrays`. */
function columnsIn<Row extends readonly unknown[]>(row: unknown): Row {
  return Object.values(row as object) as unknown as Row
}

function whereTable<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch (error) {
    if (/no such table/.test(String((Object(error) as Partial<Error>).message))) return undefined
    throw error
  }
}

function prepareRead(database: SqliteDatabase, table: string): Statements['read'] {
  const select = database.prepare(
    `SELECT version FROM ${table} WHERE integration_address = ? AND chain_id = ? AND tx_hash = ?`,
  )
  return (key) => {
    const row = select.get(...key)
    return row ? Number(columnsIn<[version: number | bigint]>(row)[0]) : undefined
  }
}
