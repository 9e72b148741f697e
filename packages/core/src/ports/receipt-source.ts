/**
 * Who knows the outcome of a payment that has no final state yet. Source: docs/interface.md 6 (receipt polling),
 * docs/decisions/receipt-polling.md.
 * @module
 */
import type { PaymentState, ProcessorUpdate } from '@payment-integration/contract'
import type { StoredPayment } from '../payments/record.js'

/** Asked by receipt polling about payments without a final answer. */
export interface ReceiptSource {
  /**
   * The payments that the source can ever answer for; others are neither read from the store nor asked about. A polling
   * round costs as much as there are payments in the scope, so a source names what it can.
   */
  readonly scope?:
    | {
        /** @default every state that is not final: null, `pending`, `refund_pending`; any other has no effect */
        readonly states?: readonly (PaymentState | null)[] | undefined
        /** @default every chain */
        readonly chainIds?: readonly number[] | undefined
      }
    | undefined
  /**
   * Returns the update that the source knows of, or null when there is nothing new. The update's id must be the same
   * for the same answer, so that asking twice changes nothing.
   *
   * Several calls run at once. A call that rejects is made again in a later round. An error whose `code` ends in
   * `_UNAVAILABLE` says that nothing of the payment's chain can be answered now: its other payments wait for the next
   * round. A call should not take longer than some seconds; it has no time limit but its own.
   */
  lookup(payment: StoredPayment, signal?: AbortSignal): Promise<ProcessorUpdate | null>
}
