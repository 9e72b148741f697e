/**
 * Marks the payments that area (a) shows. Source: docs/decisions/several-payments-in-one-transaction.md.
 * @module
 */
import type { NewPayment } from '../ports/store-transaction.js'
import type { PaymentFacts } from './facts.js'

/** Marks, per transaction and named integration (or none), the payment with the lowest ordinal. Keeps the order. */
export function markPrimary(payments: readonly PaymentFacts[]): NewPayment[] {
  // Most transactions have one payment: nothing to compare.
  const isAlone = new Map<string, boolean>()
  for (const { txHash } of payments) isAlone.set(txHash, !isAlone.has(txHash))
  const lowest = new Map<string, number>()
  for (const facts of payments) {
    if (isAlone.get(facts.txHash)) continue
    const key = keyOf(facts)
    const known = lowest.get(key)
    if (known === undefined || facts.ordinal < known) lowest.set(key, facts.ordinal)
  }
  return payments.map((facts) => ({
    facts,
    primary: isAlone.get(facts.txHash) || lowest.get(keyOf(facts)) === facts.ordinal,
  }))
}

function keyOf({ chainId, txHash, integrationAddress }: PaymentFacts): string {
  return `${chainId}:${txHash}:${integrationAddress ?? ''}`
}
