/** What reading resolves: the shapes of the contract, with amounts as a type of their own. Source: docs/interface.md 2.1, 2.2. @module */
import type { OpenPage, OpenPayment } from '@payment-integration/contract'
import type { Amount } from './amounts/amount.js'

/** The invoice of a payment: all four fields, or the whole object is null. */
export type Invoice = Omit<NonNullable<OpenPayment['invoice']>, 'amount' | 'settlementAmount'> & {
  amount: Amount
  settlementAmount: Amount
}

/**
 * One payment of the calling integration. `state` is one of the known states, null, or a word that a newer service has added: give a `switch`
 * over it a `default`. Fields that this type does not name are kept.
 */
export type Payment = Omit<OpenPayment, 'invoice' | 'tokenIn' | 'tokenOut'> & {
  invoice: Invoice | null
  tokenIn: Omit<OpenPayment['tokenIn'], 'amount'> & { amount: Amount }
  tokenOut: Omit<OpenPayment['tokenOut'], 'amountGross' | 'amountNet'> & { amountGross: Amount; amountNet: Amount }
}

/** A page of payments, newest first, with the token of the next one, or null on the last. */
export type Page = Omit<OpenPage, 'payments'> & { payments: Payment[] }
