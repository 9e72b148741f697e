/**
 * Compares a version store with the service, newest first, and repairs it through the handler of the deliveries.
 * Source: docs/interface.md 4.1 (reconciliation method), 6 (receiver obligations); docs/architecture.md.
 * @module
 */
import { InvalidRequestError } from '../errors.js'
import { walkPages } from '../iterate.js'
import type { Page, Payment } from '../payment.js'
import type { PaymentReader } from '../payments.js'
import {
  afterRun,
  earliest,
  latest,
  type Reach,
  type ReconcileCheckpoint,
  restOf,
  uncover,
  withRest,
} from './checkpoint.js'
import { createFailures, retryFailures } from './failures.js'
import { collector, type UnknownPayment } from './findings.js'
import { type CheckedReconcile, checkReconcile, type ReconcileOptions } from './options.js'
import type { Reconcile, Reconciliation } from './result.js'
import { searchSeveral } from './several.js'
import { isListing } from './store.js'
import { createTally } from './tally.js'
import { searchUnknown } from './unknown.js'

/** Binds reconciling to a client's reader. */
export function reconciler(integrationAddress: string, reader: PaymentReader): Reconcile {
  // The ways to call differ in a type alone: a store that cannot list has no unknown payments to show.
  return (async <Tx>(options: ReconcileOptions<Tx>) =>
    reconcile(checkReconcile(options, integrationAddress), reader)) as Reconcile
}

/** One payment at a time, one page at a time: repairing is in no hurry, and must not crowd out deliveries. */
async function reconcile<Tx>(options: CheckedReconcile<Tx>, reader: PaymentReader): Promise<Reconciliation> {
  const { from, checkpoint, maxPages, signal, samples, dryRun } = options
  // A dry run has handled nothing, so that nothing could go on after it.
  const rest = dryRun ? null : restOf(checkpoint, options.until)
  // The rest of a run until another date has promised to go as far as that one.
  const until =
    typeof options.until === 'number' && rest ? Math.min(options.until, Date.parse(rest.until)) : options.until
  const failures = createFailures(checkpoint.failed)
  const several = searchSeveral(options)
  const tally = createTally(options, failures, several)
  let before = checkpoint
  if (rest === null && !dryRun)
    before = uncover(checkpoint, await retryFailures(failures, reader, tally.compare, signal))
  const start = createStart(rest?.cursor ?? null, options, reader)
  // A run that goes on has not seen the pages before: all that was on them would be looked up.
  const search =
    until === 'end' && rest === null && isListing(from)
      ? await searchUnknown(from, checkpoint.integrationAddress, reader, signal)
      : null
  let beganAt = rest?.beganAt ?? null
  let pages = 0
  let stopped: Reconciliation['stopped'] = 'end'

  const overflowedAt = () => earliest(failures.overflowedAt(), several.failures.overflowedAt())
  const failedAt = () => earliest(rest?.failedAt ?? null, overflowedAt())
  const withFailures = () => ({
    ...uncover(before, overflowedAt()),
    failed: failures.kept(),
    unread: several.failures.kept(),
  })
  const keep = async (kept: ReconcileCheckpoint) => {
    if (!dryRun) await options.onCheckpoint(kept, tally.progress(pages))
  }

  let reached = checkpoint
  for await (const { payments, nextCursor } of walkPages(start.fetchPage, start.cursor)) {
    pages += 1
    if (start.restarted && pages === 1) beganAt = null // it begins at the newest after all
    beganAt ??= newestOf(payments)
    let needed = 0
    for (const payment of payments) {
      search?.saw(payment)
      if (!(await tally.compare(payment))) needed += 1
    }
    await several.lookUp()
    if (nextCursor === null) break
    const reason = reasonToStop(payments, needed, until, before.coveredTo, options.overlapMs)
    if (reason !== null) {
      stopped = reason
      break
    }
    reached = withRest(withFailures(), until, { cursor: nextCursor, beganAt, failedAt: failedAt() })
    if (pages === maxPages) {
      stopped = 'max_pages'
      break
    }
    await keep(reached)
  }

  const unknown = search !== null && stopped === 'end' ? collector<UnknownPayment>(samples) : null
  if (unknown !== null)
    await search?.finish(async (payment) => {
      await tally.compare(payment)
      await several.lookUp()
    }, unknown.add)
  if (stopped !== 'max_pages') {
    const reachedCovered = stopped !== 'date' || isBefore(until, before.coveredTo)
    reached = afterRun(withFailures(), until, { beganAt, failedAt: failedAt(), reachedCovered })
  }
  if (dryRun) reached = checkpoint
  await keep(reached)
  return {
    stopped,
    checkpoint: reached,
    restarted: start.restarted,
    pages,
    ...tally.findings(),
    unknown: unknown?.found() ?? null,
    ...several.findings(),
  }
}

/** Where a walk begins: at the cursor of the checkpoint, or at the newest when the service does not take that any more, as after a change of its key. */
function createStart<Tx>(
  cursor: string | null,
  { pageSize: limit, signal }: CheckedReconcile<Tx>,
  reader: PaymentReader,
) {
  const start = {
    cursor,
    restarted: false,
    async fetchPage(at: string | null): Promise<Page> {
      if (at === null) return reader.list({ limit, signal })
      try {
        return await reader.list({ limit, cursor: at, signal })
      } catch (error) {
        const isRefused = error instanceof InvalidRequestError && error.maxLimit === null
        if (!isRefused || at !== cursor || start.restarted) throw error
        start.restarted = true
        return reader.list({ limit, signal })
      }
    },
  }
  return start
}

/** @param needed - Payments of the page that were missing or stale. */
function reasonToStop(
  payments: readonly Payment[],
  needed: number,
  until: Reach,
  coveredTo: string | null,
  overlapMs: number,
): 'known' | 'date' | null {
  if (payments.length === 0 || until === 'end') return null
  const oldest = Math.min(...payments.map(({ blockTimestamp }) => Date.parse(blockTimestamp)))
  if (until !== 'known') return oldest < until ? 'date' : null
  // While nothing is covered, a whole page says nothing about the pages after it: notifications may have brought it.
  return needed === 0 && coveredTo !== null && oldest < Date.parse(coveredTo) - overlapMs ? 'known' : null
}

/** Whether a run until this date came to what was covered. */
function isBefore(until: Reach, coveredTo: string | null): boolean {
  return typeof until === 'number' && coveredTo !== null && until <= Date.parse(coveredTo)
}

function newestOf(payments: readonly Payment[]): string | null {
  return payments.reduce<string | null>((newest, { blockTimestamp }) => latest(newest, blockTimestamp), null)
}
