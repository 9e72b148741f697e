import type { PaymentState, ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import type { StoredPayment } from '../../src/payments/record.js'
import type { ReceiptSource } from '../../src/ports/receipt-source.js'
import type { PaymentReads } from '../../src/ports/store-reads.js'
import { createReceiptPoller, type ReceiptPollerOptions } from '../../src/receipts/poller.js'
import { manualClock } from './manual-clock.js'
import { memoryStore } from './memory-store.js'
import { recordingLogger } from './recording-logger.js'
import { storedPayment } from './stored-payment.js'

/** The receipt of a payment that succeeded. */
export const updateFor = (payment: StoredPayment): ProcessorUpdate => ({
  id: `receipt-${payment.id}`,
  chainId: String(payment.chainId),
  txHash: payment.txHash,
  state: 'success',
})

/** A poller over stored payments. `lookup` plays the source; by default it knows that every payment succeeded. */
export function pollerOverPayments(
  options: ReceiptPollerOptions = {},
  lookup: ReceiptSource['lookup'] = async (payment) => updateFor(payment),
  scope?: ReceiptSource['scope'],
) {
  const clock = manualClock()
  const store = memoryStore()
  const logger = recordingLogger()
  const asked: string[] = []
  const updates: ProcessorUpdate[] = []
  const read: Parameters<PaymentReads['listUnsettled']>[0][] = []
  let outcome: UpdateOutcome = 'applied'
  let version = 2
  let updateError: Error | null = null
  const poller = createReceiptPoller({
    store: {
      payments: {
        listUnsettled(query) {
          read.push(query)
          return store.payments.listUnsettled(query)
        },
        unsettledChains: () => store.payments.unsettledChains(),
      },
    },
    source: {
      scope,
      lookup(payment, signal) {
        asked.push(payment.id)
        return lookup(payment, signal)
      },
    },
    async applyUpdate(update) {
      if (updateError) throw updateError
      updates.push(update)
      if (outcome === 'applied')
        store.seed(({ payments }) => {
          for (const payment of payments.values())
            if (payment.txHash === update.txHash) payments.set(payment.id, { ...payment, state: update.state ?? null })
        })
      return { id: update.id, outcome, version, reason: null }
    },
    clock,
    logger,
    options,
  })
  return {
    clock,
    logger,
    asked,
    updates,
    read,
    poller,
    store,
    answerUpdatesWith: (next: UpdateOutcome | Error, nextVersion = 2) => {
      version = nextVersion
      if (next instanceof Error) updateError = next
      else outcome = next
    },
    add(id: string, state: PaymentState | null = null, more: Partial<StoredPayment> = {}) {
      const payment = storedPayment({ id, state, blockTimestamp: clock.now(), ...more })
      store.seed(({ payments }) => payments.set(id, payment))
      return payment
    },
  }
}
