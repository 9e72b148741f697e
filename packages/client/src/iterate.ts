/** Walks a keyset list by its cursors alone, and only as far as it leads on. Source: docs/interface.md 2.2, 4.1. @module */
import { AbortedError, InvalidResponseError } from './errors.js'
import { isOlder, type ListPlace } from './internal/list-order.js'
import type { Page, Payment } from './payment.js'

/** Pages in a row that may bring nothing older. A few can be empty, or repeat what a reorganisation moved; a list that ends has no more. */
const stalledPagesLimit = 100
/** Cursors kept to notice a circle as soon as it closes. A longer circle ends by the limit above. */
const keptCursors = 1_000

/** Fetches the page of a cursor, the newest for null. */
export type FetchPage = (cursor: string | null) => Promise<Page>

/**
 * Yields the payments of page after page, as they come.
 * @throws {@link AbortedError} `ERR_ABORTED` in place of the next payment, once the signal is aborted. @throws As {@link walkPages}.
 */
export async function* iteratePages(fetchPage: FetchPage, signal?: AbortSignal): AsyncGenerator<Payment, void> {
  for await (const { payments } of walkPages(fetchPage))
    for (const payment of payments) {
      if (signal?.aborted) throw new AbortedError()
      yield payment
    }
}

/**
 * Yields page after page. An empty page with a cursor is followed like any other; the end is a null cursor.
 * @param fetchPage - Called when the page before has been read to its end.
 * @param start - The cursor of the first page, the newest for null.
 * @throws {@link InvalidResponseError} `ERR_INVALID_RESPONSE`: reason `repeated_cursor` when a cursor comes back, `no_progress` after
 * 100 pages in a row without a payment that is older than all before.
 */
export async function* walkPages(fetchPage: FetchPage, start: string | null = null): AsyncGenerator<Page, void> {
  const followed = new Set<string>()
  let oldest: ListPlace | null = null
  let stalledPages = 0
  let cursor = start
  for (;;) {
    const page: Page = await fetchPage(cursor)
    // The page itself is new, even when the cursor it names is not.
    yield page
    const reached = oldestOf(page.payments, oldest)
    stalledPages = reached === oldest ? stalledPages + 1 : 0
    oldest = reached
    cursor = page.nextCursor
    if (cursor === null) return
    if (followed.has(cursor)) throw new InvalidResponseError('repeated_cursor', 200, 'nextCursor')
    if (stalledPages === stalledPagesLimit) throw new InvalidResponseError('no_progress', 200, 'nextCursor')
    remember(followed, cursor)
  }
}

/** The last place in the list among `payments` and `start`; `start` itself when none of them comes after it. */
function oldestOf(payments: readonly Payment[], start: ListPlace | null): ListPlace | null {
  let oldest = start
  for (const payment of payments) if (oldest === null || isOlder(payment, oldest)) oldest = payment
  return oldest
}

/** Adds a cursor, and drops the one that was added first when there are too many. */
function remember(cursors: Set<string>, cursor: string): void {
  cursors.add(cursor)
  const [first] = cursors
  if (cursors.size > keptCursors && first !== undefined) cursors.delete(first)
}
