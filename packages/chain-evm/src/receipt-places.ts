/** Where the payments of a transaction stand among all logs of its receipt. @module */
import type { ReceiptLog } from './internal/answers.js'

/**
 * Finds each payment's log in the receipt.
 * @param payments - The payment logs of the transaction, by log index.
 * @param logs - All logs of the receipt, in order.
 * @returns Positions in `logs`, ascending, one per payment; null when the receipt lacks one or has another order.
 */
export function placePayments(payments: readonly ReceiptLog[], logs: readonly ReceiptLog[]): readonly number[] | null {
  const places: number[] = []
  for (const [place, log] of logs.entries()) {
    const next = payments[places.length]
    if (next === undefined) break
    if (isSame(next, log)) places.push(place)
  }
  return places.length === payments.length ? places : null
}

function isSame(a: ReceiptLog, b: ReceiptLog): boolean {
  return a.address === b.address && a.data === b.data && a.topics.join() === b.topics.join()
}
