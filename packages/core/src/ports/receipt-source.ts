/**
 * The port to a source of receipts for payments without a final state. Source: docs/interface.md 6 (receipt polling),
 * docs/decisions/receipt-polling.md.
 * @module
 */
import type { PaymentState, ProcessorUpdate } from '@payment-integration/contract'
import type { StoredPayment } from '../payments/payment.js'

/** Polled for payments without a final state. */
export interface ReceiptSource {
  /**
   * The payments that the source can answer for; others are not polled. Only payments of these chains are read from the
   * store, so name the chains as narrowly as possible.
   */
  readonly scope?:
    | {
        /** @default every state that is not final: null, `pending`, `refund_pending`; others have no effect */
        readonly states?: readonly (PaymentState | null)[] | undefined
        /** @default every chain */
        readonly chainIds?: readonly number[] | undefined
      }
    | undefined
  /**
   * Returns an update, or null when there is nothing new. Equal answers must have equal update ids, so that a second
   * poll changes nothing.
   *
   * Several calls run at once. A call that rejects is repeated in a later round. After an error whose `code` ends in
   * `_UNAVAILABLE`, the other payments of the chain wait for the next round. A call should take some seconds at most;
   * it must limit its own time.
   */
  lookup(payment: StoredPayment, signal?: AbortSignal): Promise<ProcessorUpdate | null>
}
