/** Reads and writes the state of a mirror. @module */
import type { ReconcileCheckpoint } from '@payment-integration/client'
import type { Driver } from './driver.js'
import type { TableNames } from './names.js'
import { isoTime } from './payments-table.js'
import { rethrow } from './table-errors.js'

/** The state of one integration's mirror. Times are ISO 8601, UTC. */
export interface MirrorState {
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
