/** Shows how far the copy lags behind the service. @module */
import { isClientError } from '@payment-integration/client'
import type { Parts } from './options.js'

/** The state of the copy. Times are ISO 8601, UTC. */
export interface MirrorStatus {
  readonly integrationAddress: string
  /** Whether a run ever reached the end of the list. Before that, older payments are missing whatever the lag. */
  readonly copied: boolean
  readonly rows: number
  /** Rows whose newest version was not read from the read API yet. */
  readonly incomplete: number
  /** Block time of the newest payment here; null when there is none. */
  readonly newest: string | null
  /** Block time of the newest payment at the service; null when it has none or did not answer. */
  readonly newestAtService: string | null
  /** From the newest payment here to the newest at the service, in milliseconds; null when one of them is missing. */
  readonly lagMs: number | null
  /** Why the service did not answer, such as `ERR_NETWORK`; null when it did. */
  readonly serviceError: string | null
  readonly reconciledAt: string | null
  readonly reconciledFullyAt: string | null
  /** When the last signed delivery arrived. The last one may be up to a second after it. */
  readonly deliveredAt: string | null
}

/** Reads the tables and the newest payment of the service. @throws Errors of the database, and `ERR_ABORTED`. */
export async function readStatus(parts: Parts, signal: AbortSignal | undefined): Promise<MirrorStatus> {
  const { payments, state, integrationAddress } = parts
  // The service first: a payment that arrives in between then makes no lag.
  const service = await newestAtService(parts, signal)
  const { rows, incomplete, newest } = await payments.counts()
  const { reconciledAt, reconciledFullyAt, deliveredAt } = await state.read()
  return {
    integrationAddress,
    copied: reconciledFullyAt !== null,
    rows,
    incomplete,
    newest,
    newestAtService: service.newest,
    lagMs: lagOf(newest, service.newest),
    serviceError: service.error,
    reconciledAt,
    reconciledFullyAt,
    deliveredAt,
  }
}

async function newestAtService({ client }: Parts, signal: AbortSignal | undefined) {
  try {
    const { payments } = await client.payments.list({ limit: 1, signal })
    return { newest: payments[0]?.blockTimestamp ?? null, error: null }
  } catch (error) {
    if (!isClientError(error) || error.code === 'ERR_ABORTED') throw error
    return { newest: null, error: error.code }
  }
}

function lagOf(here: string | null, there: string | null): number | null {
  return here === null || there === null ? null : Math.max(0, Date.parse(there) - Date.parse(here))
}
