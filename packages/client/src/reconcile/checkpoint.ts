/** How far reconciling has come: plain data that the caller keeps between runs, as JSON. @module */
import { isTxHash } from '../internal/check.js'

/** Pass it to the next run as it is. Its fields are for looking at, and may change with the next version of this package. */
export interface ReconcileCheckpoint {
  readonly format: 1
  /** Whose payments were compared. */
  readonly integrationAddress: string
  /**
   * Every payment up to this block time, but those in `failed`, is taken care of by runs that came to their end: the time of the newest
   * payment when the last of them began, or just before the oldest that found no place in `failed` or `unread`. Null
   * before there was such a run. ISO 8601, UTC.
   */
  readonly coveredTo: string | null
  /** Payments whose handler threw, 100 at most. A run that begins at the newest looks each of them up before it reads pages. */
  readonly failed: readonly KeptFailure[]
  /**
   * Payments whose transaction could not be looked up for `severalPayments`, 100 at most. Every run with `legacy` looks
   * them up.
   */
  readonly unread: readonly KeptFailure[]
  /** Where runs that did not come to their end go on, one at most for each reach. */
  readonly unfinished: readonly UnfinishedRun[]
}

/** A payment whose handler threw, or whose transaction could not be looked up. */
export interface KeptFailure {
  readonly chainId: string
  readonly txHash: string
  readonly blockTimestamp: string
}

/** The rest of a run. Only a run of the same reach goes on with it. */
export interface UnfinishedRun {
  /** How far it goes back; a date as ISO 8601. All dates are one reach: a run until another date goes on to the earlier of both. */
  readonly until: string
  /** Of the next page. */
  readonly cursor: string
  /** Block time of the newest payment when the run began; null while it has met none. */
  readonly beganAt: string | null
  /** Block time of the oldest payment that failed in any run since this one began, and found no place in `failed`; null when none did. */
  readonly failedAt: string | null
}

/**
 * Takes what the caller kept.
 * @throws {TypeError} When it is no checkpoint, or one of another integration.
 */
export function checkCheckpoint(value: unknown, integrationAddress: string): ReconcileCheckpoint {
  if (value === undefined || value === null)
    return { format: 1, integrationAddress, coveredTo: null, failed: [], unread: [], unfinished: [] }
  // Earlier versions of this package wrote no `unread`.
  const {
    format,
    integrationAddress: of,
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
    !(Array.isArray(unfinished) && unfinished.every(isRest))
  )
    throw new TypeError(
      'checkpoint is no checkpoint (parse it if it is text); pass what an earlier run gave, unchanged, or leave it out to begin anew.',
    )
  if (of !== integrationAddress)
    throw new TypeError('checkpoint belongs to another integration; keep one for each, or leave it out to begin anew.')
  return { format, integrationAddress, coveredTo, failed, unread, unfinished }
}

function isInstant(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

function isInstantOrNull(value: unknown): value is string | null {
  return value === null || isInstant(value)
}

function isFailure(value: unknown): value is KeptFailure {
  const { chainId, txHash, blockTimestamp } = (value ?? {}) as Partial<KeptFailure>
  return typeof chainId === 'string' && isTxHash(txHash) && isInstant(blockTimestamp)
}

function isRest(value: unknown): value is UnfinishedRun {
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

/** The rest that a run of this reach goes on with. */
export function restOf({ unfinished }: ReconcileCheckpoint, reach: Reach): UnfinishedRun | null {
  return unfinished.find(({ until }) => isSame(until, reach)) ?? null
}

function isSame(until: string, reach: Reach): boolean {
  return typeof reach === 'string' ? until === reach : isInstant(until)
}

/** A run that stops before its end, in place of the rest of its reach. */
export function withRest(
  before: ReconcileCheckpoint,
  reach: Reach,
  rest: Omit<UnfinishedRun, 'until'>,
): ReconcileCheckpoint {
  const until = typeof reach === 'string' ? reach : new Date(reach).toISOString()
  return { ...before, unfinished: [...withoutRest(before, reach), { until, ...rest }] }
}

function withoutRest({ unfinished }: ReconcileCheckpoint, reach: Reach): UnfinishedRun[] {
  return unfinished.filter(({ until }) => !isSame(until, reach))
}

/** What a run that came to its end says about itself. */
export interface EndedRun {
  readonly beganAt: string | null
  readonly failedAt: string | null
  /** Whether nothing is left between where it ended and what was covered before. */
  readonly reachedCovered: boolean
}

/** The checkpoint after a run that came to its end. */
export function afterRun(
  before: ReconcileCheckpoint,
  reach: Reach,
  { beganAt, failedAt, reachedCovered }: EndedRun,
): ReconcileCheckpoint {
  const coveredTo = latest(before.coveredTo, reachedCovered ? beganAt : null)
  return uncover({ ...before, coveredTo, unfinished: withoutRest(before, reach) }, failedAt)
}

/**
 * Nothing from this block time on counts as covered, so that it is met again. Runs that are not at their end may have passed it already:
 * they will not cover it either.
 */
export function uncover(before: ReconcileCheckpoint, from: string | null): ReconcileCheckpoint {
  if (from === null) return before
  const justBefore = new Date(Date.parse(from) - 1).toISOString()
  return {
    ...before,
    coveredTo: before.coveredTo && earliest(before.coveredTo, justBefore),
    unfinished: before.unfinished.map((rest) => ({ ...rest, failedAt: earliest(rest.failedAt, from) })),
  }
}

/** The newer of two instants, of which null is none. */
export function latest(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return Date.parse(a) < Date.parse(b) ? b : a
}

/** The older of two instants, of which null is none. */
export function earliest(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return Date.parse(a) < Date.parse(b) ? a : b
}
