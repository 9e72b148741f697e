/** The order of pages. Source: docs/interface.md 4.1. @module */
import type { PaymentFacts } from '@payment-integration/core/ports'

/** Newest first by (blockTimestamp, chainId, txHash). */
export function newestFirst(a: PaymentFacts, b: PaymentFacts): number {
  if (a.blockTimestamp !== b.blockTimestamp) return b.blockTimestamp - a.blockTimestamp
  if (a.chainId !== b.chainId) return b.chainId - a.chainId
  return a.txHash < b.txHash ? 1 : a.txHash > b.txHash ? -1 : 0
}
