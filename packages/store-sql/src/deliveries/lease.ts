/** Leases of deliveries and their tokens. @module */
import type { Connection, SqlDialect } from '../engine.js'
import { sendPrepared } from '../internal/statement.js'

/** The time of a claim, as text: the same in all its statements. */
export type Moment = ReturnType<SqlDialect['moment']>

/** The lease that a claim gives. */
export interface Lease {
  readonly leaseMs: number
  /** As stored, without an epoch. */
  readonly storedToken: string
  /** The beginning of the lease. */
  readonly now: Moment
}

/** Writes a lease: `due_at` moves to its end, so that a delivery whose lease ends unsettled is due again. */
export async function writeLeases(
  db: Connection,
  dialect: SqlDialect,
  ids: readonly number[],
  { leaseMs, storedToken, now }: Lease,
): Promise<void> {
  if (ids.length === 0) return
  const { name, oneOf } = dialect
  await sendPrepared(
    db,
    dialect,
    (parameter) => `update ${name('outbox')} set lane = case lane when 2 then 2 else 1 end,
      due_at = ${now(parameter)} + ${parameter(leaseMs)}, claim_token = ${parameter(storedToken)}
      where ${oneOf('id', 'integer', ids, parameter)}`,
  )
}

/**
 * The token that a dispatcher gets. The epoch counts the URL changes of the endpoint, so that a response of the former
 * URL does not count for the new one.
 */
export function formatLeaseToken(storedToken: string, endpointEpoch: number): string {
  return `${storedToken}.${endpointEpoch}`
}

/** The parts of {@link formatLeaseToken}; null for a text of another form. */
export function parseLeaseToken(token: string): { readonly stored: string; readonly endpointEpoch: number } | null {
  const dot = token.lastIndexOf('.')
  if (dot < 0) return null
  return { stored: token.slice(0, dot), endpointEpoch: Number(token.slice(dot + 1)) }
}
