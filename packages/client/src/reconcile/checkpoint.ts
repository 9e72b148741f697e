/** The checkpoint of reconciling: JSON that the caller stores between runs. @module */
import { parseInstant } from '@payment-integration/contract/internal-io'
import { isTxHash } from '../internal/check.js'
import type { Payment } from '../payments.js'

/** Pass it to the next run unchanged. Its fields are for inspection and may change in the next version. */
export interface ReconcileCheckpoint {
  readonly format: 1
  /** The integration whose payments were compared. */
  readonly integrationAddress: string
  /**
   * Finished runs covered every payment up to this block time, except those in `failed`. It is the newest block time
   * when the last of these runs began. If `failed` or `unread` was full, it is just before the oldest payment that did
   * not fit in. Null before the first finished run. ISO 8601, UTC.
   */
  readonly coveredTo: string | null
  /** Payments whose handler threw, 100 at most. A run that begins at the newest page looks each of them up first. */
  readonly failed: readonly StoredFailure[]
  /**
   * Payments whose transaction look-up for `severalPayments` failed, 100 at most. Every run with `legacy` repeats the
   * look-ups.
   */
  readonly unread: readonly StoredFailure[]
  /** Interrupted runs to resume, at most one for each reach. */
  readonly unfinished: readonly UnfinishedRun[]
}

/** A payment whose handler threw or whose transaction look-up failed. */
export type StoredFailure = Readonly<Pick<Payment, 'chainId' | 'txHash' | 'blockTimestamp'>>

/** An interrupted run. Only a run of the same reach resumes it. */
export interface UnfinishedRun {
  /**
   * The reach: the option `until`. All dates (ISO 8601) count as one reach: a run to one date resumes a run to another
   * date, and goes on to the earlier one.
   */
  readonly until: string
  /** The cursor of the next page. */
  readonly cursor: string
  /** Block time of the newest payment when the run began; null before its first payment. */
  readonly beganAt: string | null
  /** Oldest block time of a payment that did not fit in `failed` or `unread` since this run began, or null. */
  readonly failedAt: string | null
}

/**
 * Checks the caller's checkpoint; an absent one becomes an empty one.
 * @throws {TypeError} When it is not a checkpoint, or belongs to another integration.
 */
export function checkCheckpoint(value: unknown, integrationAddress: string): ReconcileCheckpoint {
  if (value === undefined || value === null)
    return { format: 1, integrationAddress, coveredTo: null, failed: [], unread: [], unfinished: [] }
  // Earlier versions of this package wrote no `unread`.
  const {
    format,
    integrationAddress: owner,
    coveredTo,
    failed,
    unread = [],
    unfinished,
  } = value as Partial<ReconcileCheckpoint>
  if (
    format !== 1 ||
    !isInstantOrNull(coveredTo) ||
    !(Array.isArray(failed) && failed.every(isFailure)) ||
    !(Array.isArray(unread) && unread.every(isFailure)) ||
    !(Array.isArray(unfinished) && unfinished.every(isUnfinishedRun))
  )
    throw new TypeError(
      'checkpoint is not one of an earlier run; pass it unchanged (parsed, if it is text), or leave it out.',
    )
  if (owner !== integrationAddress)
    throw new TypeError('checkpoint belongs to another integration; keep one for each, or leave it out.')
  return { format, integrationAddress, coveredTo, failed, unread, unfinished }
}

function isInstant(value: unknown): value is string {
  return parseInstant(value) !== null
}

function isInstantOrNull(value: unknown): value is string | null {
  return value === null || isInstant(value)
}

function isFailure(value: unknown): value is StoredFailure {
  const { chainId, txHash, blockTimestamp } = (value ?? {}) as Partial<StoredFailure>
  return typeof chainId === 'string' && isTxHash(txHash) && isInstant(blockTimestamp)
}

function isUnfinishedRun(value: unknown): value is UnfinishedRun {
  const { until, cursor, beganAt, failedAt } = (value ?? {}) as Partial<UnfinishedRun>
  return (
    (until === 'known' || until === 'end' || isInstant(until)) &&
    typeof cursor === 'string' &&
    cursor !== '' &&
    isInstantOrNull(beganAt) &&
    isInstantOrNull(failedAt)
  )
}

/** How far a run goes back; unix milliseconds for a date. */
export type Reach = 'known' | 'end' | number

/** The interrupted run that a run of this reach resumes. */
export function findUnfinished({ unfinished }: ReconcileCheckpoint, reach: Reach): UnfinishedRun | null {
  return unfinished.find(({ until }) => isSameReach(until, reach)) ?? null
}

function isSameReach(until: string, reach: Reach): boolean {
  return typeof reach === 'string' ? until === reach : isInstant(until)
}

/** Stores an interrupted run in place of the former one of its reach. */
export function addUnfinished(
  checkpoint: ReconcileCheckpoint,
  reach: Reach,
  run: Omit<UnfinishedRun, 'until'>,
): ReconcileCheckpoint {
  const until = typeof reach === 'string' ? reach : new Date(reach).toISOString()
  return { ...checkpoint, unfinished: [...removeUnfinished(checkpoint, reach), { until, ...run }] }
}

function removeUnfinished({ unfinished }: ReconcileCheckpoint, reach: Reach): UnfinishedRun[] {
  return unfinished.filter(({ until }) => !isSameReach(until, reach))
}

/** Extends the coverage to `beganAt`, which is null when the run did not reach the block time covered before. */
export function finishRun(
  checkpoint: ReconcileCheckpoint,
  reach: Reach,
  { beganAt, failedAt }: { readonly beganAt: string | null; readonly failedAt: string | null },
): ReconcileCheckpoint {
  const coveredTo = pickLatest(checkpoint.coveredTo, beganAt)
  return lowerCoverage({ ...checkpoint, coveredTo, unfinished: removeUnfinished(checkpoint, reach) }, failedAt)
}

/**
 * Ends the coverage just before this block time, so that a later run compares the payments from then on again.
 * Interrupted runs may have passed this time already, so they do not cover it either.
 */
export function lowerCoverage(checkpoint: ReconcileCheckpoint, blockTime: string | null): ReconcileCheckpoint {
  if (blockTime === null) return checkpoint
  const justBefore = new Date(Date.parse(blockTime) - 1).toISOString()
  return {
    ...checkpoint,
    coveredTo: checkpoint.coveredTo && pickEarliest(checkpoint.coveredTo, justBefore),
    unfinished: checkpoint.unfinished.map((run) => ({ ...run, failedAt: pickEarliest(run.failedAt, blockTime) })),
  }
}

/** The newer of two instants; null counts as absent. */
export function pickLatest(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return Date.parse(a) < Date.parse(b) ? b : a
}

/** The older of two instants; null counts as absent. */
export function pickEarliest(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return Date.parse(a) < Date.parse(b) ? a : b
}
