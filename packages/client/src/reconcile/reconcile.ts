/**
 * Compares a version store with the service and repairs it, newest first.
 * Source: docs/interface.md 4.1 (reconciliation method), 6 (receiver obligations); docs/architecture.md.
 * @module
 */
import type { Client } from '../client.js'
import type { ClientError } from '../errors.js'
import { InvalidRequestError } from '../errors.js'
import type { Page, Payment, PaymentReader } from '../payments.js'
import { readPages } from '../payments.js'
import type { Reach, ReconcileCheckpoint } from './checkpoint.js'
import { addUnfinished, findUnfinished, finishRun, lowerCoverage, pickEarliest, pickLatest } from './checkpoint.js'
import { createTally } from './compare.js'
import { createFailures, retryFailures } from './failures.js'
import type { Reconcile, Reconciliation } from './findings.js'
import { createFindingList, type UnknownPayment } from './findings.js'
import { type CheckedReconcile, checkReconcile, isListing, type ReconcileOptions } from './options.js'
import { createSeveralPaymentsSearch } from './search-several-payments.js'
import { startUnknownSearch } from './search-unknown.js'

/**
 * Compares your version store with the service and passes missing and stale payments to your handler. So it repairs the
 * gaps that lost deliveries leave. It may run beside deliveries and beside itself: the store decides in its
 * transaction. No effect happens twice, and no older version replaces a newer one. It reads newest first, one page and
 * one payment at a time. A handler that throws does not stop the run: see `failed`.
 * @throws {TypeError | RangeError} When an option is malformed, before any request.
 * @throws A {@link ClientError} with a code of {@link Client}, such as `ERR_ABORTED`; or the error of the store.
 * @example
 * import { reconcile } from '@payment-integration/client'
 * import { createMemoryVersionStore } from '@payment-integration/version-store'
 * import { client } from './client.js'
 * const from = createMemoryVersionStore()
 * const { checkpoint } = await reconcile(client, { from, handle: async ({ txHash }) => console.log(txHash) })
 */
// The overloads differ only in type: a store that cannot list has no unknown payments.
export const reconcile = (async <Tx>(
  { integrationAddress, payments }: Pick<Client, 'integrationAddress' | 'payments'>,
  options: ReconcileOptions<Tx>,
) => run(checkReconcile(options, integrationAddress), payments)) as Reconcile

/** Works on one payment and one page at a time: repairing is not urgent and must not delay deliveries. */
async function run<Tx>(options: CheckedReconcile<Tx>, reader: PaymentReader): Promise<Reconciliation> {
  const { from, checkpoint, maxPages, signal, samples, dryRun } = options
  // A dry run repairs nothing, so it must not resume an interrupted run.
  const resumed = dryRun ? null : findUnfinished(checkpoint, options.until)
  // An interrupted run until another date must still reach that date.
  const until =
    typeof options.until === 'number' && resumed ? Math.min(options.until, Date.parse(resumed.until)) : options.until
  const failures = createFailures(checkpoint.failed)
  const severalSearch = createSeveralPaymentsSearch(options)
  const tally = createTally(options, failures, severalSearch)
  let startCheckpoint = checkpoint
  if (resumed === null && !dryRun)
    startCheckpoint = lowerCoverage(checkpoint, await retryFailures(failures, reader, tally.compare, signal))
  const start = createStart(resumed?.cursor ?? null, options, reader)
  // A resumed run did not read the earlier pages, so it would look up every payment on them.
  const unknownSearch =
    until === 'end' && resumed === null && isListing(from)
      ? await startUnknownSearch(from, checkpoint.integrationAddress, reader, signal)
      : null
  let beganAt = resumed?.beganAt ?? null
  let pages = 0
  let stopped: Reconciliation['stopped'] = 'end'

  const overflowedAt = () => pickEarliest(failures.overflowedAt(), severalSearch.failures.overflowedAt())
  const failedAt = () => pickEarliest(resumed?.failedAt ?? null, overflowedAt())
  const buildCheckpoint = () => ({
    ...lowerCoverage(startCheckpoint, overflowedAt()),
    failed: failures.list(),
    unread: severalSearch.failures.list(),
  })
  const report = async (current: ReconcileCheckpoint) => {
    if (!dryRun) await options.onCheckpoint(current, tally.progress(pages))
  }

  let reachedCheckpoint = checkpoint
  for await (const { payments, nextCursor } of readPages(start.fetchPage, start.cursor)) {
    pages += 1
    if (start.restarted && pages === 1) beganAt = null // The run started at the newest page after all.
    beganAt ??= payments.reduce<string | null>((newest, { blockTimestamp }) => pickLatest(newest, blockTimestamp), null)
    let repairsNeeded = 0
    for (const payment of payments) {
      unknownSearch?.crossOff(payment)
      if (!(await tally.compare(payment))) repairsNeeded += 1
    }
    await severalSearch.lookUp()
    if (nextCursor === null) break
    const reason = findStopReason(payments, repairsNeeded, until, startCheckpoint.coveredTo, options.overlapMs)
    if (reason !== null) {
      stopped = reason
      break
    }
    reachedCheckpoint = addUnfinished(buildCheckpoint(), until, { cursor: nextCursor, beganAt, failedAt: failedAt() })
    if (pages === maxPages) {
      stopped = 'max_pages'
      break
    }
    await report(reachedCheckpoint)
  }

  const unknown = unknownSearch !== null && stopped === 'end' ? createFindingList<UnknownPayment>(samples) : null
  if (unknown !== null)
    await unknownSearch?.finish(async (payment) => {
      await tally.compare(payment)
      await severalSearch.lookUp()
    }, unknown.add)
  if (stopped !== 'max_pages') {
    const newCoveredTo = stopped !== 'date' || isDateCovered(until, startCheckpoint.coveredTo) ? beganAt : null
    reachedCheckpoint = finishRun(buildCheckpoint(), until, { beganAt: newCoveredTo, failedAt: failedAt() })
  }
  if (dryRun) reachedCheckpoint = checkpoint
  await report(reachedCheckpoint)
  return {
    stopped,
    checkpoint: reachedCheckpoint,
    restarted: start.restarted,
    pages,
    ...tally.findings(),
    unknown: unknown?.summarize() ?? null,
    ...severalSearch.findings(),
  }
}

/** Starts at the checkpoint's cursor, or at the newest page if the service rejects the cursor, such as an old one. */
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
        const isRejected = error instanceof InvalidRequestError && error.maxLimit === null
        if (!isRejected || at !== cursor || start.restarted) throw error
        start.restarted = true
        return reader.list({ limit, signal })
      }
    },
  }
  return start
}

/** @param repairsNeeded - Payments of the page that were missing or stale. */
function findStopReason(
  payments: readonly Payment[],
  repairsNeeded: number,
  until: Reach,
  coveredTo: string | null,
  overlapMs: number,
): 'known' | 'date' | null {
  if (payments.length === 0 || until === 'end') return null
  const oldest = Math.min(...payments.map(({ blockTimestamp }) => Date.parse(blockTimestamp)))
  if (until !== 'known') return oldest < until ? 'date' : null
  // While nothing is covered, a complete page proves nothing about older pages: deliveries may have filled it.
  return repairsNeeded === 0 && coveredTo !== null && oldest < Date.parse(coveredTo) - overlapMs ? 'known' : null
}

/** Whether a run until this date reached the covered block time. */
function isDateCovered(until: Reach, coveredTo: string | null): boolean {
  return typeof until === 'number' && coveredTo !== null && until <= Date.parse(coveredTo)
}
