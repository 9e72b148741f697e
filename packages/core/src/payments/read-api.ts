/** The read API: its lists, its single payments, and what they show. Source: docs/interface.md 4.1. @module */
import type { PageBody, PaymentBody } from '@payment-integration/contract'
import { AmbiguousPaymentError, PaymentNotFoundError } from '../errors.js'
import { parseAddress, parseLimit, parseTxHash } from '../internal/parameters.js'
import type { ConsolePage, ConsolePaymentFilter, IntegrationPaymentFilter } from '../operators/console-reads.js'
import type { Store } from '../ports/store.js'
import type { CursorCodec } from './cursor.js'
import { copyInvoice, copyRecipient, decodeMemo, formatUnits, type StoredPayment } from './payment.js'
import type { PagePosition, PageQuery } from './payment-store.js'

/** Builds the payment object field by field, so that no field can appear that docs/interface.md 2.1 omits. */
export function buildPaymentBody<Address extends string | null>(payment: StoredPayment, integrationAddress: Address) {
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
    memo: decodeMemo(payment.memoHex),
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

/** Whether a payment matches every given field, as the reads of a store decide it. */
export function matchesConsoleFilter(payment: StoredPayment, filter: ConsolePaymentFilter): boolean {
  const { state, chainId, integrationAddress, since = 0, until = Number.POSITIVE_INFINITY, invoice, memo = '' } = filter
  if (state !== undefined && payment.state !== state) return false
  if (chainId !== undefined && payment.chainId !== chainId) return false
  if (integrationAddress !== undefined && payment.integrationAddress !== integrationAddress) return false
  if (payment.blockTimestamp < since || payment.blockTimestamp >= until) return false
  if (!payment.memoHex.startsWith(memo)) return false
  if (invoice === undefined) return true
  const { amount, currency = payment.invoice?.currency } = invoice
  return payment.invoice?.amount === amount && payment.invoice.currency === currency
}

/** The most payments that one page of a filter examines. */
const maxExamined = 5_000

export function createReadApi({ payments }: Pick<Store, 'payments'>, cursors: CursorCodec) {
  /** The position just before the payments with block times below `until`; undefined: the beginning of the list. */
  async function findStart(scope: Omit<PageQuery, 'limit'>, until: number | undefined) {
    if (until === undefined) return undefined
    const { next } = await payments.list({ ...scope, limit: 1 })
    if (next === null || next.blockTimestamp < until) return undefined
    return { ...next, blockTimestamp: until, chainId: 0, txHash: '0x' }
  }

  return {
    /** Filters the pages of `list`: both take the same cursors, and the index by wallet serves the search. */
    async select(
      integrationAddress: string,
      { cursor, limit, ...filter }: IntegrationPaymentFilter & { readonly cursor?: string | undefined; limit: number },
    ): Promise<ConsolePage<StoredPayment, string>> {
      const { txHash, wallet, since = 0, until } = filter
      const scope = { integrationAddress, wallet }
      const isMatch = (payment: StoredPayment) => matchesConsoleFilter(payment, { ...filter, integrationAddress })
      if (txHash !== undefined) {
        const candidates = await payments.findByHash({ ...scope, txHash })
        return { rows: candidates.filter(isMatch), next: null, isCut: false }
      }
      const rows: StoredPayment[] = []
      let after: PagePosition | undefined =
        cursor === undefined ? await findStart(scope, until) : cursors.decode(cursor, scope)
      for (let examined = limit; ; examined += limit) {
        const page = await payments.list({ ...scope, after, limit })
        rows.push(...page.payments.filter(isMatch))
        if (page.next === null || page.next.blockTimestamp < since) return { rows, next: null, isCut: false }
        after = page.next
        const isCut = rows.length < limit && examined + limit > maxExamined
        if (rows.length >= limit || isCut) return { rows, next: cursors.encode(after, scope), isCut }
      }
    },
    async list(
      integrationAddress: string,
      query: { readonly [Name in 'limit' | 'cursor' | 'wallet']?: string | undefined },
    ): Promise<PageBody> {
      const wallet = query.wallet === undefined ? undefined : parseAddress(query.wallet)
      const limit = parseLimit(query.limit)
      const scope = { integrationAddress, wallet }
      const after = query.cursor === undefined ? undefined : cursors.decode(query.cursor, scope)
      const page = await payments.list({ ...scope, after, limit })
      const nextCursor = page.next === null ? null : cursors.encode(page.next, scope)
      return { payments: page.payments.map((row) => buildPaymentBody(row, integrationAddress)), nextCursor }
    },
    async get(
      integrationAddress: string,
      query: { readonly txHash: string; readonly wallet?: string | undefined },
    ): Promise<PaymentBody> {
      const wallet = query.wallet === undefined ? undefined : parseAddress(query.wallet)
      const txHash = parseTxHash(query.txHash)
      const [payment, other] = await payments.findByHash({ integrationAddress, txHash, wallet })
      if (payment === undefined) throw new PaymentNotFoundError()
      if (other !== undefined) throw new AmbiguousPaymentError()
      return buildPaymentBody(payment, integrationAddress)
    },
  }
}
