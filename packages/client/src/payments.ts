/** Reads the payments of an integration or of one wallet. Source: docs/interface.md 4.1. @module */
import {
  createReader,
  errorBodySchema,
  pageLimit,
  pageSchema,
  paths,
  paymentSchema,
  type Reader,
} from '@payment-integration/contract'
import type { CallOptions } from './call-options.js'
import { AmbiguousPaymentError, InvalidRequestError, InvalidResponseError, NotFoundError } from './errors.js'
import { checkInteger, checkSignal, checkTxHash } from './internal/check.js'
import { type Refusals, refusalOfMissing, refusalWithBody } from './internal/refusals.js'
import type { Requester } from './internal/request.js'
import { iteratePages } from './iterate.js'
import type { Page, Payment } from './payment.js'

// The contract checks amounts by their pattern, which is all that the type `Amount` guarantees.
const pageReader = /* @__PURE__ */ createReader(pageSchema) as Reader<unknown> as Reader<Page>
const onePaymentReader = /* @__PURE__ */ createReader(paymentSchema) as Reader<unknown> as Reader<Payment>

/** Options of `list`. */
export interface ListOptions extends CallOptions {
  /** Payments per page, 1 to 200. @default 50, by the service */
  readonly limit?: number | undefined
  /** The `nextCursor` of the page before, unchanged. @default none: the newest page */
  readonly cursor?: string | undefined
}

/** Options of `iterate`. */
export interface IterateOptions extends CallOptions {
  /** Payments per request, 1 to 200. @default 50, by the service */
  readonly pageSize?: number | undefined
}

/**
 * Reads payments. Every method rejects with an error of {@link AnyReadError}. A malformed argument is a TypeError or
 * RangeError before any request. An error of `random` or `now` is rethrown unchanged.
 */
export interface PaymentReader {
  /**
   * One page, newest first.
   * @throws {@link InvalidRequestError} `ERR_INVALID_REQUEST` for a cursor that the service did not issue here.
   */
  list(options?: ListOptions): Promise<Page>
  /**
   * All payments, newest first. Fetches a page when the one before is consumed, until `nextCursor` is null.
   * @throws {@link InvalidResponseError} `ERR_INVALID_RESPONSE`, reason `repeated_cursor` or `no_progress`, when the
   * list would never end.
   */
  iterate(options?: IterateOptions): AsyncIterable<Payment>
  /**
   * One payment by its destination transaction hash, 0x and 64 hex digits in any case.
   * @throws {@link NotFoundError} `ERR_NOT_FOUND`; {@link AmbiguousPaymentError} `ERR_AMBIGUOUS_PAYMENT`.
   */
  get(txHash: string, options?: CallOptions): Promise<Payment>
}

/** Limits a reader to an integration and a wallet. Both addresses are lowercased. */
export interface ReaderScope {
  readonly integrationAddress: string
  /** Null for every wallet. */
  readonly wallet: string | null
}

/** Query parameters of a page. */
interface PageQuery {
  readonly limit: number | undefined
  readonly cursor: string | null
}

/** Refusals of every endpoint of the read API. */
const anyRefusals: Refusals = {
  400: /* @__PURE__ */ refusalWithBody(errorBodySchema, ({ maxLimit = null }) => new InvalidRequestError(maxLimit)),
}

/** Binds the endpoints to a scope. */
export function paymentReader(scope: ReaderScope, request: Requester): PaymentReader {
  const { wallet } = scope
  const listPath = wallet === null ? paths.payments : paths.walletPayments.replace(':address', wallet)

  async function page({ limit, cursor }: PageQuery, signal: AbortSignal | undefined): Promise<Page> {
    const query = { ...(limit === undefined ? {} : { limit: String(limit) }), ...(cursor === null ? {} : { cursor }) }
    const found = await request({ path: listPath, query, schema: pageReader, refusals: anyRefusals, signal })
    if (limit !== undefined && found.payments.length > limit)
      throw new InvalidResponseError('mismatch', 200, 'payments')
    for (const [position, payment] of found.payments.entries()) assertInScope(payment, scope, ['payments', position])
    return found
  }

  return {
    async list(options = {}) {
      const { limit, cursor, signal } = options
      return page({ limit: checkLimit('limit', limit), cursor: checkCursor(cursor) }, checkSignal(signal))
    },
    iterate(options = {}) {
      const { pageSize, signal } = options
      const limit = checkLimit('pageSize', pageSize)
      checkSignal(signal)
      return iteratePages((cursor) => page({ limit, cursor }, signal), signal)
    },
    async get(txHash, options = {}) {
      const signal = checkSignal(options.signal)
      const hash = checkTxHash(txHash)
      const refusals: Refusals = {
        ...anyRefusals,
        404: refusalOfMissing(() => new NotFoundError(hash, wallet)),
        409: refusalWithBody(errorBodySchema, () => new AmbiguousPaymentError(hash, wallet)),
      }
      const payment = await request({ path: `${listPath}/${hash}`, schema: onePaymentReader, refusals, signal })
      if (payment.txHash !== hash) throw new InvalidResponseError('mismatch', 200, 'txHash')
      assertInScope(payment, scope, [])
      return payment
    },
  }
}

/**
 * Rejects a payment of another scope, as a cache may mix up answers.
 * @param at - The path of the payment in the answer.
 */
function assertInScope(payment: Payment, scope: ReaderScope, at: readonly (string | number)[]): void {
  const { integrationAddress, wallet } = scope
  if (payment.integrationAddress !== integrationAddress)
    throw new InvalidResponseError('mismatch', 200, [...at, 'integrationAddress'].join('.'))
  // Sender or receiver may be the wallet, so the path names the whole payment.
  if (wallet !== null && payment.sender !== wallet && payment.receiver !== wallet)
    throw new InvalidResponseError('mismatch', 200, at.join('.'))
}

function checkLimit(name: string, value: number | undefined): number | undefined {
  return value === undefined ? undefined : checkInteger(name, value, pageLimit.min, pageLimit.max)
}

function checkCursor(cursor: unknown): string | null {
  if (cursor === undefined) return null
  if (typeof cursor !== 'string' || cursor === '')
    throw new TypeError('cursor is not a nextCursor; pass the text of the page before, or leave it out for the newest.')
  return cursor
}
