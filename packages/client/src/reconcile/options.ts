/** How a run is asked for, checked before anything is sent. @module */
import { pageLimit } from '@payment-integration/contract'
import type { CallOptions } from '../call-options.js'
import { checkInteger, checkSignal } from '../internal/check.js'
import type { LegacyClient } from '../legacy/client.js'
import type { Payment } from '../payment.js'
import { checkCheckpoint, type Reach, type ReconcileCheckpoint } from './checkpoint.js'
import type { ReconcileStore } from './store.js'

/** How far a run goes back. */
export type Until = 'known' | 'end' | Date

/** What a run has done so far. */
export interface ReconcileProgress {
  /** Pages read. */
  readonly pages: number
  /** Payments compared. */
  readonly compared: number
  /** Payments handled: they were missing or stale. */
  readonly repaired: number
  /** Payments whose handler threw. */
  readonly failed: number
}

/** Options of `reconcile`. */
export interface ReconcileOptions<Tx, Store extends ReconcileStore<Tx> = ReconcileStore<Tx>> extends CallOptions {
  /** Your version store: the one that your receiver of deliveries uses. */
  readonly from: Store
  /** Your handler: the one of your receiver. It runs in the store's transaction, one at a time, once for each version that was missing. */
  readonly handle: (payment: Payment, tx: Tx) => void | Promise<void>
  /**
   * `known`: to the first page on which nothing was missing or stale, but not before everything newer than `coveredTo` of the checkpoint, and `overlapMs` more, was
   * compared; to the end of the list without a checkpoint, and while its `coveredTo` is null. A date: to the first payment in a block before it. `end`: to the end
   * of the list. @default 'known'
   */
  readonly until?: Until | undefined
  /** What the last run gave; a run goes on where the last one of the same reach stopped before its end. @default none: a run that begins anew */
  readonly checkpoint?: ReconcileCheckpoint | null | undefined
  /** Told after each page, and waited for: keep the checkpoint, and a crash costs one page. What it throws ends the run. */
  readonly onCheckpoint?:
    | ((checkpoint: ReconcileCheckpoint, progress: ReconcileProgress) => void | Promise<void>)
    | undefined
  /** Payments per request, 1 to 200. @default 200 */
  readonly pageSize?: number | undefined
  /**
   * Pages to read in this run, at least 1; the next one of the same reach goes on. For runtimes that bound the time or the requests of a call: a run that begins at
   * the newest has one request more for each failed payment of the checkpoint. @default no bound
   */
  readonly maxPages?: number | undefined
  /** How far `known` goes back beyond what was covered, in milliseconds of block time: for chains that are indexed with a delay. @default 3600000 (an hour) */
  readonly overlapMs?: number | undefined
  /** How many payments of each kind the answer shows, 0 to 10000; all are counted. @default 20 */
  readonly samples?: number | undefined
  /**
   * A client of the legacy API, for `severalPayments`. Each payment that the run compares costs one look-up, four at a
   * time, whether it was stored or not. @default none: nothing is looked up
   */
  readonly legacy?: Pick<LegacyClient, 'lookup'> | undefined
  /** Compares and changes nothing: no handler runs, and the checkpoint stays as it was. @default false */
  readonly dryRun?: boolean | undefined
}

/** Defaults of {@link ReconcileOptions}. */
export const reconcileDefaults = {
  until: 'known',
  pageSize: 200,
  overlapMs: 3_600_000,
  samples: 20,
  dryRun: false,
} as const

/** {@link ReconcileOptions} with every gap filled and every value checked. */
export interface CheckedReconcile<Tx> {
  readonly from: ReconcileStore<Tx>
  readonly handle: (payment: Payment, tx: Tx) => void | Promise<void>
  readonly until: Reach
  readonly checkpoint: ReconcileCheckpoint
  readonly onCheckpoint: (checkpoint: ReconcileCheckpoint, progress: ReconcileProgress) => void | Promise<void>
  readonly pageSize: number
  readonly maxPages: number
  readonly overlapMs: number
  readonly samples: number
  readonly legacy: Pick<LegacyClient, 'lookup'> | undefined
  readonly dryRun: boolean
  readonly signal: AbortSignal | undefined
}

/**
 * Checks and completes the options.
 * @throws {TypeError} When a part is missing or malformed. @throws {RangeError} When a number is out of range.
 */
export function checkReconcile<Tx>(options: ReconcileOptions<Tx>, integrationAddress: string): CheckedReconcile<Tx> {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('reconcile expects an object with from and handle.')
  const {
    from,
    handle,
    until = reconcileDefaults.until,
    onCheckpoint = () => undefined,
    pageSize = reconcileDefaults.pageSize,
    maxPages = Number.MAX_SAFE_INTEGER,
    overlapMs = reconcileDefaults.overlapMs,
    samples = reconcileDefaults.samples,
    legacy,
    dryRun = reconcileDefaults.dryRun,
  } = options
  if (typeof from?.advance !== 'function' || typeof from.current !== 'function')
    throw new TypeError('from has no advance() and current(); pass a version store.')
  for (const [name, value] of Object.entries({ handle, onCheckpoint }))
    if (typeof value !== 'function') throw new TypeError(`${name} is ${typeof value}; pass a function.`)
  if (typeof dryRun !== 'boolean') throw new TypeError(`dryRun is of type ${typeof dryRun}; pass true or false.`)
  if (legacy !== undefined && typeof legacy?.lookup !== 'function')
    throw new TypeError('legacy has no lookup(); pass a client of createLegacyClient, or leave it out.')
  return {
    from,
    handle,
    legacy,
    until: checkUntil(until),
    checkpoint: checkCheckpoint(options.checkpoint, integrationAddress),
    onCheckpoint,
    pageSize: checkInteger('pageSize', pageSize, pageLimit.min, pageLimit.max),
    maxPages: checkInteger('maxPages', maxPages, 1, Number.MAX_SAFE_INTEGER),
    overlapMs: checkInteger('overlapMs', overlapMs, 0, Number.MAX_SAFE_INTEGER),
    samples: checkInteger('samples', samples, 0, 10_000),
    dryRun,
    signal: checkSignal(options.signal),
  }
}

function checkUntil(value: unknown): Reach {
  if (value === 'known' || value === 'end') return value
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.getTime()
  throw new TypeError("until is neither 'known' nor 'end' nor a valid Date.")
}
