/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The amounts of a payment in words. @module */
import type { StoredPayment } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import { Shown } from './parts.js'
import { unitsOf } from './text.js'

/** Rows of `Facts`: received, paid and invoice. */
export function amountFacts({ tokenIn, tokenOut, invoice, source }: StoredPayment): (readonly [string, Child])[] {
  return [
    [
      'Received',
      <>
        {unitsOf(tokenOut.net, tokenOut.decimals)} <Shown text={tokenOut.symbol ?? ''} most={16} /> net,{' '}
        {unitsOf(tokenOut.gross, tokenOut.decimals)} gross
      </>,
    ],
    [
      'Paid',
      <>
        {unitsOf(tokenIn.amount, tokenIn.decimals)} <Shown text={tokenIn.symbol ?? ''} most={16} /> on chain{' '}
        {source.chainId}
      </>,
    ],
    [
      'Invoice',
      invoice === null
        ? 'none'
        : `${invoice.amount} ${invoice.currency}, settled as ${invoice.settlementAmount} ${invoice.settlementCurrency}`,
    ],
  ]
}
