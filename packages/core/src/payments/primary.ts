/** Which payment of a transaction area (a) shows. Source: DESIGN section 3 (several payments in one transaction). @module */
import type { NewPayment } from '../ports/store-transaction.js'
import type { PaymentFacts } from './facts.js'

/** Marks, per transaction and named integration (or none), the payment with the lowest ordinal. Keeps the order. */
export function markPrimary(payments: readonly PaymentFacts[]): NewPayment[] {
  const lowest = new Map<string, number>()
  const keyOf = (facts: PaymentFacts) => `${facts.chainId}:${facts.txHash}:${facts.integrationAddress ?? ''}`
  for (const facts of payments) {
    const key = keyOf(facts)
    const known = lowest.get(key)
    if (known === undefined || facts.ordinal < known) lowest.set(key, facts.ordinal)
  }
  return payments.map((facts) => ({ facts, primary: lowest.get(keyOf(facts)) === facts.ordinal }))
}
