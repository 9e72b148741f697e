/** Reads and writes the table of payments. Source: docs/interface.md 6, receiver obligations. @module */
import type { Payment } from '@payment-integration/client'
import { decideVersion, type VersionDecision } from '@payment-integration/version-store'
import type { Snapshot } from '@payment-integration/webhook'
import {
  bodyOf,
  factColumns,
  factValues,
  type Key,
  keyColumns,
  keyValues,
  snapshotColumns,
  snapshotValues,
} from './columns.js'
import type { Driver } from './driver.js'
import type { TableNames } from './names.js'
import { incomplete, paymentColumns } from './schema.js'
import { rethrow } from './table-errors.js'

/**
 * The effect of a payment of the read API. `added`: there was no row. `updated`: the row had an older version.
 * `completed`: a delivery had stored this version, and the other columns followed. `refreshed`: the same version with
 * other facts, as after a reorg. `unchanged`: nothing.
 */
export type Written = 'added' | 'updated' | 'completed' | 'refreshed' | 'unchanged'

/** A row with its newest version. */
export interface VersionedKey extends Key {
  readonly version: number
}

/** Counts of one integration. */
export interface Counts {
  readonly rows: number
  readonly incomplete: number
  /** ISO 8601, or null when no row has a block time. */
  readonly newest: string | null
}

/** The table of payments, of one integration. */
export interface PaymentsTable {
  /** Stores a snapshot if its version is greater. One statement compares and writes. */
  writeSnapshot(snapshot: Snapshot, at: string): Promise<VersionDecision>
  /** Stores a payment of the read API. An older version than the stored one changes no column of a snapshot. */
  writePayment(payment: Payment, at: string): Promise<Written>
  /** Keys and versions of up to 100 rows in order of their key, after `after`. */
  keysAfter(after: Key | null, onlyIncomplete: boolean): Promise<VersionedKey[]>
  counts(): Promise<Counts>
  /** Fails unless the table has every column. */
  check(): Promise<void>
}

const pageSize = 100

/** Opens the table. */
export function openPaymentsTable(driver: Driver, { payments }: TableNames, integrationAddress: string): PaymentsTable {
  const text = driver.dialect === 'postgres' ? '::text' : ''
  const query = (sql: string, values: Parameters<Driver['query']>[1] = []) =>
    driver.query(sql, values).catch(rethrow(payments))
  const insert = (columns: readonly string[]) =>
    `INSERT INTO ${payments} AS kept (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
ON CONFLICT (${keyColumns.join(', ')}) DO UPDATE SET `
  const take = (columns: readonly string[]) => columns.map((column) => `${column} = excluded.${column}`).join(', ')
  const takeIfNewer = (columns: readonly string[]) =>
    columns
      .map((name) => `${name} = CASE WHEN excluded.version >= kept.version THEN excluded.${name} ELSE kept.${name} END`)
      .join(', ')
  const byKey = keyColumns.map((column) => `${column} = ?`).join(' AND ')

  const storeSnapshot = `${insert([...keyColumns, ...snapshotColumns, 'updated_at'])}${take([...snapshotColumns, 'updated_at'])}
WHERE excluded.version > kept.version RETURNING version`
  const storePayment = `${insert(paymentColumns)}${takeIfNewer(snapshotColumns)}, ${take([...factColumns, 'updated_at'])}
WHERE kept.body_version IS NULL OR excluded.body_version > kept.body_version
OR (excluded.body_version = kept.body_version AND excluded.body${text} <> kept.body${text}) RETURNING version`
  const read = `SELECT version, body_version, body${text} AS body FROM ${payments} WHERE ${byKey}`

  async function stored(key: Key) {
    const [row] = await query(read, keyValues(key))
    if (row === undefined) return null
    const bodyVersion = row['body_version'] === null ? null : Number(row['body_version'])
    return { version: Number(row['version']), bodyVersion, body: row['body'] }
  }

  return {
    async writeSnapshot(snapshot, at) {
      const rows = await query(storeSnapshot, [...keyValues(snapshot), ...snapshotValues(snapshot), at])
      if (rows.length > 0) return 'apply'
      const row = await stored(snapshot)
      // No row: someone deleted it between the two statements, after its version had been stored.
      return row === null ? 'duplicate' : decideVersion(row.version, snapshot.version)
    },

    async writePayment(payment, at) {
      const before = await stored(payment)
      const { version } = payment
      // Most payments of a run are unchanged, and cost no write.
      if (before !== null && before.bodyVersion !== null && before.bodyVersion >= version)
        if (before.bodyVersion > version || before.body === bodyOf(payment)) return 'unchanged'
      const values = [...keyValues(payment), ...snapshotValues(payment), ...factValues(payment), at]
      const rows = await query(storePayment, values)
      if (rows.length === 0) return 'unchanged'
      if (before === null) return 'added'
      if (before.version < version) return 'updated'
      return before.bodyVersion === version ? 'refreshed' : 'completed'
    },

    async keysAfter(after, onlyIncomplete) {
      const rows = await query(
        `SELECT chain_id, tx_hash, version FROM ${payments} WHERE integration_address = ?${onlyIncomplete ? ` AND ${incomplete}` : ''}
AND (chain_id, tx_hash) > (?, ?) ORDER BY chain_id, tx_hash LIMIT ${pageSize}`,
        [integrationAddress, after?.chainId ?? '', after?.txHash ?? ''],
      )
      return rows.map((row) => ({
        integrationAddress,
        chainId: String(row['chain_id']),
        txHash: String(row['tx_hash']),
        version: Number(row['version']),
      }))
    },

    async counts() {
      const [row = {}] = await query(
        `SELECT count(*) AS total, count(CASE WHEN ${incomplete} THEN 1 END) AS incomplete, max(block_timestamp) AS newest
FROM ${payments} WHERE integration_address = ?`,
        [integrationAddress],
      )
      return {
        rows: Number(row['total']),
        incomplete: Number(row['incomplete']),
        newest: isoTime(row['newest']),
      }
    },

    async check() {
      await query(`SELECT ${paymentColumns.join(', ')} FROM ${payments} WHERE 1 = 0`)
    },
  }
}

/** A time of the database: `pg` gives a Date unless its user set a parser. */
export function isoTime(value: unknown): string | null {
  return value === null || value === undefined ? null : new Date(value as string | Date).toISOString()
}
