import type { PaymentState, ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import type { StoredPayment } from '../../src/payments/payment.js'
import type { PaymentReads } from '../../src/payments/payment-store.js'
import { createReceiptPoller, type ReceiptPollerOptions } from '../../src/payments/receipts.js'
import type { ReceiptSource } from '../../src/ports/chain.js'
import { manualClock } from './manual-clock.js'
import { recordingLogger } from './recording-logger.js'
import { openStore } from './store.js'
import { getName, paymentFacts } from './stored-payment.js'

/** The receipt of a payment that succeeded. */
export const updateFor = (payment: StoredPayment): ProcessorUpdate => ({
  id: `receipt-${getName(payment)}`,
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
  const store = openStore()
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
        asked.push(getName(payment))
        return lookup(payment, signal)
      },
    },
    async applyUpdate(update) {
      if (updateError) throw updateError
      updates.push(update)
      if (outcome === 'applied')
        await store.transaction(async (tx) => {
          const { chainId, txHash, state = null } = update
          const payments = await tx.paymentsForChange({ chainId: Number(chainId), txHash })
          await tx.setStatuses(new Map(payments.map((each) => [each.id, { ...each, state }])))
        })
      return { id: update.id, outcome, version, reason: null }
    },
    clock,
    logger,
    options,
  })
  return {
    ...{ clock, logger, asked, updates, read, poller, store },
    answerUpdatesWith: (next: UpdateOutcome | Error, nextVersion = 2) => {
      version = nextVersion
      if (next instanceof Error) updateError = next
      else outcome = next
    },
    async add(name: string, state: PaymentState | null = null, more: Partial<StoredPayment> = {}) {
      const facts = paymentFacts(name, { blockTimestamp: clock.now(), ...more })
      return store.transaction(async (tx) => {
        const [payment] = (await tx.upsertPayments([{ facts, primary: more.primary ?? true }])).inserted
        if (payment === undefined) throw new Error(`${name} is stored already`)
        const status = { ...payment, state, version: more.version ?? 1 }
        if (status.primary && state !== null) await tx.setStatuses(new Map([[payment.id, status]]))
        return status
      })
    },
  }
}
