/** Reads the pages of a listing, and stops when they lead nowhere. Source: docs/interface.md 2.2, 4.1. @module */
import { AbortedError, InvalidResponseError } from './errors.js'
import { isOlder, type ListPosition } from './internal/list-order.js'
import type { Page, Payment } from './payment.js'

/** Limit of consecutive pages without an older payment. A few may be empty, or repeat payments that a reorg moved. */
const maxStalledPages = 100
/** Number of remembered cursors, to notice a repeated one. A longer cycle runs into the limit above. */
const maxCursors = 1_000

/** Fetches the page of a cursor; the newest page for null. */
export type FetchPage = (cursor: string | null) => Promise<Page>

/**
 * Yields the payments of page after page.
 * @throws {@link AbortedError} `ERR_ABORTED` in place of the next payment, once the signal is aborted.
 * @throws As {@link readPages}.
 */
export async function* iteratePages(fetchPage: FetchPage, signal?: AbortSignal): AsyncGenerator<Payment, void> {
  for await (const { payments } of readPages(fetchPage))
    for (const payment of payments) {
      if (signal?.aborted) throw new AbortedError()
      yield payment
    }
}

/**
 * Yields page after page until the cursor is null. An empty page with a cursor is not the end.
 * @param fetchPage - Called when the caller has consumed the page before.
 * @param start - The cursor of the first page; null for the newest.
 * @throws {@link InvalidResponseError} `ERR_INVALID_RESPONSE`: reason `repeated_cursor` when a cursor repeats,
 * `no_progress` after 100 consecutive pages without an older payment.
 */
export async function* readPages(fetchPage: FetchPage, start: string | null = null): AsyncGenerator<Page, void> {
  const followed = new Set<string>()
  let oldest: ListPosition | null = null
  let stalledPages = 0
  let cursor = start
  for (;;) {
    const page: Page = await fetchPage(cursor)
    // The page is new even when its next cursor repeats.
    yield page
    const reached = oldestOf(page.payments, oldest)
    stalledPages = reached === oldest ? stalledPages + 1 : 0
    oldest = reached
    cursor = page.nextCursor
    if (cursor === null) return
    if (followed.has(cursor)) throw new InvalidResponseError('repeated_cursor', 200, 'nextCursor')
    if (stalledPages === maxStalledPages) throw new InvalidResponseError('no_progress', 200, 'nextCursor')
    remember(followed, cursor)
  }
}

/** The oldest position among `start` and `payments`; `start` itself when no payment is older. */
function oldestOf(payments: readonly Payment[], start: ListPosition | null): ListPosition | null {
  let oldest = start
  for (const payment of payments) if (oldest === null || isOlder(payment, oldest)) oldest = payment
  return oldest
}

/** Adds a cursor; beyond the limit, drops the oldest one. */
function remember(cursors: Set<string>, cursor: string): void {
  cursors.add(cursor)
  const [first] = cursors
  if (cursors.size > maxCursors && first !== undefined) cursors.delete(first)
}
