/** Payment types: the contract's, with amounts as their own type. Source: docs/interface.md 2.1, 2.2. @module */
import type { OpenPage, OpenPayment } from '@payment-integration/contract'
import type { Amount } from './amounts/amount.js'

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
