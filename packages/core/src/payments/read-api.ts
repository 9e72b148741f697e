/** The read API: its parameters and the payment that it shows. Source: docs/interface.md 4.1. @module */
import { type PageBody, type PaymentBody, pageLimit } from '@payment-integration/contract'
import { AmbiguousPaymentError, InvalidRequestError, PaymentNotFoundError } from '../errors.js'
import type { Store } from '../ports/store.js'
import type { CursorCodec } from './cursor.js'
import { copyInvoice, copyRecipient, formatUnits, parseMemo, type StoredPayment } from './payment.js'

/** Parses plain ASCII digits without sign, space, exponent or leading zero, from 1 to 200; else `ERR_LIMIT_INVALID`. */
export function parseLimit(text: string | undefined): number {
  if (text === undefined) return pageLimit.default
  const limit = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN
  if (limit >= pageLimit.min && limit <= pageLimit.max) return limit
  throw new InvalidRequestError(
    'ERR_LIMIT_INVALID',
    `limit must be an integer from ${pageLimit.min} to ${pageLimit.max}`,
  )
}

/** Lowercases a transaction hash; else `ERR_TX_HASH_INVALID`. */
export function parseTxHash(text: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
  throw new InvalidRequestError('ERR_TX_HASH_INVALID', 'txHash must be a 32-byte hex string: 0x and 64 hex digits')
}

/** Lowercases an address; else `ERR_ADDRESS_INVALID`. */
export function parseAddress(text: string): string {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase()
  throw new InvalidRequestError('ERR_ADDRESS_INVALID', 'address must be a 20-byte hex string: 0x and 40 hex digits')
}

/** Rejects control characters, line breaks and direction marks, because names appear on terminals and in logs. */
export function parseName(text: string): string {
  if (!/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text)) return text
  throw new InvalidRequestError(
    'ERR_NAME_INVALID',
    'name must not hold control characters, line breaks or marks of direction',
  )
}

/** Builds the payment object field by field, so that no field can appear that docs/interface.md 2.1 omits. */
export function buildPaymentView<Address extends string | null>(payment: StoredPayment, integrationAddress: Address) {
  const { tokenIn, tokenOut, source } = payment
  // Named one by one: an object from a spread costs ten times as much to build and to format as JSON.
  return {
    integrationAddress,
    chainId: String(payment.chainId),
    txHash: payment.txHash,
    version: payment.version,
    state: payment.state,
    recipient: copyRecipient(payment.recipient),
    invoice: copyInvoice(payment.invoice),
    sender: payment.sender,
    receiver: payment.receiver,
    memo: parseMemo(payment.memoHex),
    blockTimestamp: new Date(payment.blockTimestamp).toISOString(),
    source: { chainId: String(source.chainId), txHash: source.txHash },
    tokenIn: {
      address: tokenIn.address,
      symbol: tokenIn.symbol,
      amount: formatUnits(tokenIn.amount, tokenIn.decimals),
    },
    tokenOut: {
      address: tokenOut.address,
      symbol: tokenOut.symbol,
      amountGross: formatUnits(tokenOut.gross, tokenOut.decimals),
      amountNet: formatUnits(tokenOut.net, tokenOut.decimals),
    },
  }
}

export function createPaymentReader(store: Pick<Store, 'payments'>, cursors: CursorCodec) {
  return {
    async list(
      integrationAddress: string,
      query: { readonly [Name in 'limit' | 'cursor' | 'wallet']?: string | undefined },
    ): Promise<PageBody> {
      const wallet = query.wallet === undefined ? undefined : parseAddress(query.wallet)
      const limit = parseLimit(query.limit)
      const scope = { integrationAddress, wallet }
      const after = query.cursor === undefined ? undefined : cursors.decode(query.cursor, scope)
      const { payments, next } = await store.payments.list({ ...scope, after, limit })
      const nextCursor = next === null ? null : cursors.encode(next, scope)
      return { payments: payments.map((row) => buildPaymentView(row, integrationAddress)), nextCursor }
    },
    async get(
      integrationAddress: string,
      query: { readonly txHash: string; readonly wallet?: string | undefined },
    ): Promise<PaymentBody> {
      const wallet = query.wallet === undefined ? undefined : parseAddress(query.wallet)
      const txHash = parseTxHash(query.txHash)
      const [payment, other] = await store.payments.findByHash({ integrationAddress, txHash, wallet })
      if (payment === undefined) throw new PaymentNotFoundError()
      if (other !== undefined) throw new AmbiguousPaymentError()
      return buildPaymentView(payment, integrationAddress)
    },
  }
}
