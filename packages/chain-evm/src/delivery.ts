/**
 * Decides which payments reached their receiver on this chain. Source: the router's paying calls.
 *
 * A bridge deposit emits a payment event too, but its receiver gets nothing here.
 * A router that pays in an ERC-20 token transfers the net amount last and then emits its event. So the last transfer of
 * the token before the event, and after any other payment, must move the net amount to the receiver.
 * After a deposit, the last transfer is the one into the bridge. An earlier transfer may have paid for something else.
 * No transfer proves two payments, because each counts for the next payment only.
 * @module
 */
import type { ReceiptLog } from './internal/answers.js'
import type { DecodedPayment, RouterLog } from './router-decoder.js'
import { readTransfer, type Transfer } from './transfers.js'

/** A payment and its log. */
export interface LoggedPayment {
  readonly event: DecodedPayment
  readonly log: RouterLog
}

/** Whether only the receipt can show that the receiver got the payment. */
export function needsReceipt({ event }: Pick<LoggedPayment, 'event'>): boolean {
  return event.provedBy === 'transfer'
}

/**
 * The payments that the receipt of their transaction proves.
 * @param payments - All of the transaction, by log index.
 * @param logs - All logs of the receipt, in order.
 * @param isPaymentLog - Whether a log has the topic of a payment and comes from a listed router.
 * @returns Null when the receipt does not hold the log of each payment.
 */
export function transferredPayments(
  payments: readonly LoggedPayment[],
  logs: readonly ReceiptLog[],
  isPaymentLog: (log: ReceiptLog) => boolean,
): ReadonlySet<DecodedPayment> | null {
  const proved = new Set<DecodedPayment>()
  const lastOf = new Map<string, Transfer>()
  let index = 0
  for (const log of logs) {
    const transfer = readTransfer(log)
    if (transfer !== null) lastOf.set(transfer.token, transfer)
    if (!isPaymentLog(log)) continue
    const next = payments[index]
    if (next !== undefined && isSame(next.log, log)) {
      if (isOf(next.event, lastOf.get(next.event.token))) proved.add(next.event)
      index++
    }
    lastOf.clear()
  }
  return index === payments.length ? proved : null
}

function isOf({ receiver, net }: DecodedPayment, transfer: Transfer | undefined): boolean {
  return transfer?.to === receiver && transfer.amount === net
}

function isSame(a: ReceiptLog, b: ReceiptLog): boolean {
  return a.address === b.address && a.data === b.data && a.topics.join() === b.topics.join()
}
