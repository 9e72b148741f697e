/**
 * Reads the payments of an integration or of one wallet, page by page. Source: docs/interface.md 2.1, 2.2, 4.1.
 * @module
 */
import {
  createSchemaReader,
  errorBodySchema,
  type OpenPage,
  type OpenPayment,
  pageLimit,
  pageSchema,
  paths,
  paymentSchema,
  type SchemaReader,
} from '@payment-integration/contract'
import type { Amount } from './amounts.js'
import {
  AbortedError,
  AmbiguousPaymentError,
  InvalidRequestError,
  InvalidResponseError,
  PaymentNotFoundError,
} from './errors.js'
import { checkInteger, checkSignal, checkTxHash } from './internal/check.js'
import { type Rejections, type Requester, rejectMissing, rejectWithBody } from './internal/request.js'
import type { CallOptions } from './transport-options.js'

/** The invoice of a payment: all four fields, or the whole object is null. */
export type Invoice = Omit<NonNullable<OpenPayment['invoice']>, 'amount' | 'settlementAmount'> & {
  amount: Amount
  settlementAmount: Amount
}

/**
 * One payment of the calling integration. `state` is a known state, null, or an unknown value of a newer service: give
 * a `switch` over it a `default`. Unknown fields stay in the object.
 */
export type Payment = Omit<OpenPayment, 'invoice' | 'tokenIn' | 'tokenOut'> & {
  invoice: Invoice | null
  tokenIn: Omit<OpenPayment['tokenIn'], 'amount'> & { amount: Amount }
  tokenOut: Omit<OpenPayment['tokenOut'], 'amountGross' | 'amountNet'> & { amountGross: Amount; amountNet: Amount }
}

/** A page of payments, newest first, with the cursor of the next page, or null on the last. */
export type Page = Omit<OpenPage, 'payments'> & { payments: Payment[] }

/** The keyset position of a payment. */
type ListPosition = Pick<Payment, 'blockTimestamp' | 'chainId' | 'txHash'>

/** Whether `position` comes after `other` in a list, newest first. Chain ids compare as numbers, hashes as text. */
export function isOlder(position: ListPosition, other: ListPosition): boolean {
  const gapMs = Date.parse(position.blockTimestamp) - Date.parse(other.blockTimestamp)
  if (gapMs !== 0) return gapMs < 0
  const [chain, otherChain] = [BigInt(position.chainId), BigInt(other.chainId)]
  return chain === otherChain ? position.txHash < other.txHash : chain < otherChain
}

/** Limit of consecutive pages without an older payment. A few may be empty, or repeat payments that a reorg moved. */
const maxStalledPages = 100
/** Number of remembered cursors, to notice a repeated one. A longer cycle runs into the limit above. */
const maxCursors = 1_000

/** Fetches the page of a cursor; the newest page for null. */
type FetchPage = (cursor: string | null) => Promise<Page>

/**
 * Yields the payments of page after page.
 * @throws {@link AbortedError} `ERR_ABORTED` in place of the next payment, once the signal is aborted.
 * @throws The errors of {@link readPages}.
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
 * @throws {@link InvalidResponseError} `ERR_RESPONSE_INVALID`: reason `repeated_cursor` when a cursor repeats,
 * `no_progress` after 100 consecutive pages without an older payment.
 */
export async function* readPages(fetchPage: FetchPage, start: string | null = null): AsyncGenerator<Page, void> {
  const followedCursors = new Set<string>()
  let oldest: ListPosition | null = null
  let stalledPages = 0
  let cursor = start
  for (;;) {
    const page: Page = await fetchPage(cursor)
    // The page is new even when its next cursor repeats.
    yield page
    const newOldest = findOldest(page.payments, oldest)
    stalledPages = newOldest === oldest ? stalledPages + 1 : 0
    oldest = newOldest
    cursor = page.nextCursor
    if (cursor === null) return
    if (followedCursors.has(cursor)) throw new InvalidResponseError('repeated_cursor', 200, 'nextCursor')
    if (stalledPages === maxStalledPages) throw new InvalidResponseError('no_progress', 200, 'nextCursor')
    followedCursors.add(cursor)
    // Beyond the limit, drops the oldest cursor.
    const [first] = followedCursors
    if (followedCursors.size > maxCursors && first !== undefined) followedCursors.delete(first)
  }
}

/** The oldest position among `start` and `payments`; `start` itself when no payment is older. */
function findOldest(payments: readonly Payment[], start: ListPosition | null): ListPosition | null {
  let oldest = start
  for (const payment of payments) if (oldest === null || isOlder(payment, oldest)) oldest = payment
  return oldest
}

// The contract checks amounts by their pattern, which is all that the type `Amount` guarantees.
const pageReader = /* @__PURE__ */ createSchemaReader(pageSchema) as SchemaReader<unknown> as SchemaReader<Page>
const onePaymentReader = /* @__PURE__ */ createSchemaReader(
  paymentSchema,
) as SchemaReader<unknown> as SchemaReader<Payment>

/** The size and place of a page. */
export interface ListOptions extends CallOptions {
  /** Payments per page, 1 to 200. @default 50, by the service */
  readonly limit?: number | undefined
  /** The `nextCursor` of the page before, unchanged. @default none: the newest page */
  readonly cursor?: string | undefined
}

/** The number of payments that an iteration fetches at once. */
export interface IterateOptions extends CallOptions {
  /** Payments per request, 1 to 200. @default 50, by the service */
  readonly pageSize?: number | undefined
}

/**
 * Reads payments. Every method rejects with a {@link ClientError}. A malformed argument is a TypeError or
 * RangeError before any request. An error of `random` or `clock` is rethrown unchanged.
 */
export interface PaymentReader {
  /**
   * One page, newest first.
   * @throws {@link InvalidRequestError} `ERR_REQUEST_INVALID` for a cursor that does not belong to this list.
   */
  list(options?: ListOptions): Promise<Page>
  /**
   * All payments, newest first. Fetches a page when the one before is consumed, until `nextCursor` is null.
   * @throws {@link InvalidResponseError} `ERR_RESPONSE_INVALID`, reason `repeated_cursor` or `no_progress`, when the
   * list would never end.
   */
  iterate(options?: IterateOptions): AsyncIterable<Payment>
  /**
   * One payment by its destination transaction hash, 0x and 64 hex digits in any case.
   * @throws {@link PaymentNotFoundError} `ERR_PAYMENT_NOT_FOUND`; {@link AmbiguousPaymentError}
   * `ERR_PAYMENT_AMBIGUOUS`.
   */
  get(txHash: string, options?: CallOptions): Promise<Payment>
}

/** Limits a reader to an integration and a wallet. Both addresses are lowercased. */
interface ReaderScope {
  readonly integrationAddress: string
  /** Null for every wallet. */
  readonly wallet: string | null
}

const commonRejections: Rejections = {
  400: /* @__PURE__ */ rejectWithBody(errorBodySchema, ({ maxLimit = null }) => new InvalidRequestError(maxLimit)),
}

export function createPaymentReader(scope: ReaderScope, request: Requester): PaymentReader {
  const { wallet } = scope
  const listPath = wallet === null ? paths.payments : paths.walletPayments.replace(':address', wallet)

  async function fetchPage(
    limit: number | undefined,
    cursor: string | null,
    signal: AbortSignal | undefined,
  ): Promise<Page> {
    const query = { ...(limit === undefined ? {} : { limit: String(limit) }), ...(cursor === null ? {} : { cursor }) }
    const received = await request({ path: listPath, query, schema: pageReader, rejections: commonRejections, signal })
    if (limit !== undefined && received.payments.length > limit)
      throw new InvalidResponseError('mismatch', 200, 'payments')
    for (const [position, payment] of received.payments.entries()) assertInScope(payment, scope, ['payments', position])
    return received
  }

  return {
    async list(options = {}) {
      const { limit, cursor, signal } = options
      return fetchPage(checkLimit('limit', limit), checkCursor(cursor), checkSignal(signal))
    },
    iterate(options = {}) {
      const { pageSize, signal } = options
      const limit = checkLimit('pageSize', pageSize)
      checkSignal(signal)
      return iteratePages((cursor) => fetchPage(limit, cursor, signal), signal)
    },
    async get(txHash, options = {}) {
      const signal = checkSignal(options.signal)
      const hash = checkTxHash(txHash)
      const rejections: Rejections = {
        ...commonRejections,
        404: rejectMissing(() => new PaymentNotFoundError(hash, wallet)),
        409: rejectWithBody(errorBodySchema, () => new AmbiguousPaymentError(hash, wallet)),
      }
      const payment = await request({ path: `${listPath}/${hash}`, schema: onePaymentReader, rejections, signal })
      if (payment.txHash !== hash) throw new InvalidResponseError('mismatch', 200, 'txHash')
      assertInScope(payment, scope, [])
      return payment
    },
  }
}

/** Rejects a payment of another scope, as a cache may mix up answers; `path` leads to it in the answer. */
function assertInScope(payment: Payment, scope: ReaderScope, path: readonly (string | number)[]): void {
  const { integrationAddress, wallet } = scope
  if (payment.integrationAddress !== integrationAddress)
    throw new InvalidResponseError('mismatch', 200, [...path, 'integrationAddress'].join('.'))
  // Sender or receiver may be the wallet, so the path names the whole payment.
  if (wallet !== null && payment.sender !== wallet && payment.receiver !== wallet)
    throw new InvalidResponseError('mismatch', 200, path.join('.'))
}

function checkLimit(name: string, value: number | undefined): number | undefined {
  return value === undefined ? undefined : checkInteger(name, value, pageLimit.min, pageLimit.max)
}

function checkCursor(cursor: unknown): string | null {
  if (cursor === undefined) return null
  if (typeof cursor !== 'string' || cursor === '')
    throw new TypeError('cursor is not a nextCursor; pass the one of the previous page, or none.')
  return cursor
}
