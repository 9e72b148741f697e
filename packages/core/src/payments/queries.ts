/** The read API, after authentication. Source: docs/interface.md 4.1. @module */
import type { PageBody, PaymentBody } from '@payment-integration/contract'
import type { CursorCodec } from '../cursor/cursor.js'
import { PaymentNotFoundError, SeveralPaymentsError } from '../errors.js'
import type { PaymentReads } from '../ports/store-reads.js'
import { parseLimit } from './page-limit.js'
import { parseAddress, parseTxHash } from './parameters.js'
import { paymentView } from './view.js'

/** Parses the raw strings of a request, and reads the payments of one integration. */
export function createPaymentReader(reads: () => Pick<PaymentReads, 'list' | 'findByHash'>, cursors: CursorCodec) {
  return {
    async list(
      integrationAddress: string,
      query: { readonly [Name in 'limit' | 'cursor' | 'wallet']?: string | undefined },
    ): Promise<PageBody> {
      const wallet = query.wallet === undefined ? undefined : parseAddress(query.wallet)
      const limit = parseLimit(query.limit)
      const scope = { integrationAddress, wallet }
      const after = query.cursor === undefined ? undefined : cursors.decode(query.cursor, scope)
      const { payments, next } = await reads().list({ ...scope, after, limit })
      const nextCursor = next === null ? null : cursors.encode(next, scope)
      return { payments: payments.map((row) => paymentView(row, integrationAddress)), nextCursor }
    },
    async get(
      integrationAddress: string,
      query: { readonly txHash: string; readonly wallet?: string | undefined },
    ): Promise<PaymentBody> {
      const wallet = query.wallet === undefined ? undefined : parseAddress(query.wallet)
      const txHash = parseTxHash(query.txHash)
      const [payment, other] = await reads().findByHash({ integrationAddress, txHash, wallet })
      if (payment === undefined) throw new PaymentNotFoundError()
      if (other !== undefined) throw new SeveralPaymentsError()
      return paymentView(payment, integrationAddress)
    },
  }
}
