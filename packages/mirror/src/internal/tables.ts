/**
 * Reads and writes the payments and the state of a mirror. Source: docs/interface.md 6, receiver obligations.
 * @module
 */
import type { Payment, ReconcileCheckpoint } from '@payment-integration/client'
import { decideVersion, type VersionDecision } from '@payment-integration/version-store'
import type { Snapshot } from '@payment-integration/webhook'
import {
  bodyOf,
  factColumns,
  factValues,
  incomplete,
  type Key,
  keyColumns,
  keyValues,
  paymentColumns,
  rethrow,
  snapshotColumns,
  snapshotValues,
  type TableNames,
} from './columns.js'
import type { Driver } from './drivers.js'

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
interface Counts {
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
function isoTime(value: unknown): string | null {
  return value === null || value === undefined ? null : new Date(value as string | Date).toISOString()
}

/** The state of one integration's mirror. Times are ISO 8601, UTC. */
interface MirrorState {
  readonly checkpoint: ReconcileCheckpoint | null
  /** When the last run finished. */
  readonly reconciledAt: string | null
  /** When the last run finished that read to the end of the list. */
  readonly reconciledFullyAt: string | null
  /** When the last signed delivery arrived; up to a second late. */
  readonly deliveredAt: string | null
}

/** The table of states, of one integration. */
export interface StateTable {
  read(): Promise<MirrorState>
  set(column: 'checkpoint' | 'reconciled_at' | 'reconciled_fully_at' | 'delivered_at', value: string): Promise<void>
}

/** Opens the table. */
export function openStateTable(driver: Driver, { state }: TableNames, integrationAddress: string): StateTable {
  const text = driver.dialect === 'postgres' ? '::text' : ''
  return {
    async read() {
      const [row = {}] = await driver
        .query(
          `SELECT checkpoint${text} AS checkpoint, reconciled_at, reconciled_fully_at, delivered_at FROM ${state} WHERE integration_address = ?`,
          [integrationAddress],
        )
        .catch(rethrow(state))
      const { checkpoint } = row
      return {
        checkpoint: typeof checkpoint === 'string' ? (JSON.parse(checkpoint) as ReconcileCheckpoint) : null,
        reconciledAt: isoTime(row['reconciled_at']),
        reconciledFullyAt: isoTime(row['reconciled_fully_at']),
        deliveredAt: isoTime(row['delivered_at']),
      }
    },
    async set(column, value) {
      await driver
        .query(
          `INSERT INTO ${state} (integration_address, ${column}) VALUES (?, ?)
ON CONFLICT (integration_address) DO UPDATE SET ${column} = excluded.${column}`,
          [integrationAddress, value],
        )
        .catch(rethrow(state))
    },
  }
}
