/** How far reconciling has come: plain data that the caller keeps between runs, as JSON. @module */

/** Pass it to the next run as it is. Its fields are for looking at, and may change with the next version of this package. */
export interface ReconcileCheckpoint {
  readonly format: 1
  /** Whose payments were compared. */
  readonly integrationAddress: string
  /**
   * Every payment up to this block time is taken care of by runs that came to their end: the time of the newest payment when the last of
   * them began, or just before the oldest whose handler threw. Null before there was such a run. ISO 8601, UTC.
   */
  readonly coveredTo: string | null
  /** Where a run that did not come to its end goes on; null when the last one did. */
  readonly unfinished: UnfinishedRun | null
}

/** The rest of a run. */
export interface UnfinishedRun {
  /** Of the next page. */
  readonly cursor: string
  /** Block time of the newest payment when the run began; null while it has met none. */
  readonly beganAt: string | null
  /** Block time of the oldest payment in it whose handler threw; null when none did. */
  readonly failedAt: string | null
}

/** The checkpoint before the first run. */
export function noCheckpoint(integrationAddress: string): ReconcileCheckpoint {
  return { format: 1, integrationAddress, coveredTo: null, unfinished: null }
}

/**
 * Takes what the caller kept.
 * @throws {TypeError} When it is no checkpoint, or one of another integration.
 */
export function checkCheckpoint(value: unknown, integrationAddress: string): ReconcileCheckpoint {
  if (value === undefined || value === null) return noCheckpoint(integrationAddress)
  const { format, integrationAddress: of, coveredTo, unfinished } = value as Partial<ReconcileCheckpoint>
  if (format !== 1 || !isInstantOrNull(coveredTo) || !isUnfinishedOrNull(unfinished))
    throw new TypeError('checkpoint is none; pass what an earlier run gave, unchanged, or leave it out to begin anew.')
  if (of !== integrationAddress)
    throw new TypeError('checkpoint belongs to another integration; keep one for each, or leave it out to begin anew.')
  return { format, integrationAddress, coveredTo, unfinished }
}

function isInstantOrNull(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && !Number.isNaN(Date.parse(value)))
}

function isUnfinishedOrNull(value: unknown): value is UnfinishedRun | null {
  if (value === null) return true
  const { cursor, beganAt, failedAt } = (value ?? {}) as Partial<UnfinishedRun>
  return typeof cursor === 'string' && cursor !== '' && isInstantOrNull(beganAt) && isInstantOrNull(failedAt)
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
  { beganAt, failedAt, reachedCovered }: EndedRun,
): ReconcileCheckpoint {
  const covered = latest(before.coveredTo, reachedCovered ? beganAt : null)
  // What failed must be met again, so that nothing from its time on counts as covered.
  const coveredTo = covered === null || failedAt === null ? covered : earlier(covered, justBefore(failedAt))
  return { ...before, coveredTo, unfinished: null }
}

/** The newer of two instants, of which null is none. */
export function latest(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return Date.parse(a) < Date.parse(b) ? b : a
}

/** The earlier of two instants. */
export function earlier(a: string, b: string): string {
  return Date.parse(a) < Date.parse(b) ? a : b
}

function justBefore(instant: string): string {
  return new Date(Date.parse(instant) - 1).toISOString()
}
