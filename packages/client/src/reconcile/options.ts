/** The options of `reconcile` with their checks, and the store that it compares. @module */
import { pageLimit } from '@payment-integration/contract'
import { checkInteger, checkObject, checkSignal } from '../internal/check.js'
import type { LegacyClient } from '../legacy/client.js'
import type { Payment } from '../payments.js'
import type { CallOptions, Complete } from '../transport-options.js'
import { checkCheckpoint, type Reach, type ReconcileCheckpoint } from './checkpoint.js'

/** Names the payment of a stored version. */
export interface StoredKey {
  readonly integrationAddress: string
  /** Destination chain, decimal string. */
  readonly chainId: string
  /** Destination transaction. */
  readonly txHash: string
}

/**
 * Remembers the newest handled version of each payment.
 * @typeParam Tx - The transaction in which the effect writes: its writes and the version commit together.
 */
export interface ReconcileStore<Tx> {
  /** The stored version, `undefined` when the payment is new. */
  current(key: StoredKey): Promise<number | undefined>
  /** Runs the effect and stores the version, atomically, if it is greater. `duplicate` and `stale` run nothing. */
  advance(
    payment: StoredKey & { readonly version: number },
    effect: (tx: Tx) => void | Promise<void>,
  ): Promise<'apply' | 'duplicate' | 'stale'>
}

/** A store that can list its payments, to find those that the service does not have. */
export interface ListingStore<Tx> extends ReconcileStore<Tx> {
  /** Every payment of one integration, in any order. Duplicates and keys of other integrations are ignored. */
  list(integrationAddress: string): Iterable<StoredKey> | AsyncIterable<StoredKey> | Promise<Iterable<StoredKey>>
}

export function isListing<Tx>(store: ReconcileStore<Tx>): store is ListingStore<Tx> {
  return typeof (store as Partial<ListingStore<Tx>>).list === 'function'
}

/** Counts of a run so far. */
export interface ReconcileProgress {
  /** Pages read. */
  readonly pages: number
  /** Payments compared with the store. */
  readonly compared: number
  /** Missing and stale payments that the handler processed. */
  readonly repaired: number
  /** Payments whose handler threw. */
  readonly failed: number
}

/** The store and handler of a run, and the extent of the run. */
export interface ReconcileOptions<Tx, Store extends ReconcileStore<Tx> = ReconcileStore<Tx>> extends CallOptions {
  /** The version store that your receiver of deliveries uses. */
  readonly from: Store
  /** The handler of your receiver. Called in the store's transaction, once per missing version, never concurrently. */
  readonly handle: (payment: Payment, tx: Tx) => void | Promise<void>
  /**
   * - `known`: at least to `overlapMs` before `coveredTo` of the checkpoint, then to the first page without a missing
   *   or stale payment. Without a checkpoint, or while `coveredTo` is null: to the end of the list.
   * - A date: to the first payment in an earlier block.
   * - `end`: to the end of the list.
   * @default 'known'
   */
  readonly until?: 'known' | 'end' | Date | undefined
  /** The last run's checkpoint. Resumes its interrupted run of an equal `until`; all dates are equal. @default none */
  readonly checkpoint?: ReconcileCheckpoint | null | undefined
  /**
   * Awaited after each page. Store the checkpoint, so that a crash costs one page. A thrown error stops the run.
   * @default nothing
   */
  readonly onCheckpoint?:
    | ((checkpoint: ReconcileCheckpoint, progress: ReconcileProgress) => void | Promise<void>)
    | undefined
  /** Payments per request, 1 to 200. @default 200 */
  readonly pageSize?: number | undefined
  /**
   * The most pages of this run, at least 1; the next run with the same `until` goes on. For runtimes that limit the
   * time or the requests of a call. A run from the newest page adds one request per failed payment of the checkpoint.
   * @default no limit
   */
  readonly maxPages?: number | undefined
  /**
   * Block time in milliseconds that `known` reads beyond `coveredTo`, for chains that are indexed with a delay.
   * @default 3600000 (an hour)
   */
  readonly overlapMs?: number | undefined
  /** Number of payments of each kind that the result shows, 0 to 10000. All are counted. @default 20 */
  readonly samples?: number | undefined
  /**
   * A client of the legacy API, for `severalPayments`. Each compared payment, stored or not, costs one look-up. Four
   * look-ups run at a time.
   * @default none: no look-ups
   */
  readonly legacy?: Pick<LegacyClient, 'lookup'> | undefined
  /** Compares only: no handler runs, and the checkpoint stays unchanged. @default false */
  readonly dryRun?: boolean | undefined
}

/** {@link ReconcileOptions} with defaults, checked. */
export interface CheckedReconcile<Tx> extends Omit<Complete<ReconcileOptions<Tx>>, 'until' | 'legacy' | 'signal'> {
  readonly until: Reach
  readonly legacy: ReconcileOptions<Tx>['legacy']
  readonly signal: ReconcileOptions<Tx>['signal']
}

/**
 * Checks the options and adds defaults.
 * @throws {TypeError} When an option is missing or malformed.
 * @throws {RangeError} When a number is out of range.
 */
export function checkReconcile<Tx>(options: ReconcileOptions<Tx>, integrationAddress: string): CheckedReconcile<Tx> {
  checkObject('reconcile', options, 'from and handle')
  const {
    from,
    handle,
    until = 'known',
    onCheckpoint = () => undefined,
    pageSize = 200,
    maxPages = Number.MAX_SAFE_INTEGER,
    overlapMs = 3_600_000,
    samples = 20,
    legacy,
    dryRun = false,
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
  // Not `instanceof`: in test runners, a date may come from another realm.
  const isDate = Object.prototype.toString.call(value) === '[object Date]'
  if (isDate && !Number.isNaN((value as Date).getTime())) return (value as Date).getTime()
  throw new TypeError("until is neither 'known' nor 'end' nor a valid Date; pass one of them, or leave it out.")
}
