/** Decides which state may follow which. Source: docs/decisions/transitions.md, docs/interface.md 3. @module */
import type { PaymentState } from '@payment-integration/contract'

const refunds = ['refund_pending', 'refund_success', 'refund_failure'] as const

/** The states that may follow each state. A payment without a state may take any. */
export const transitions: Readonly<Record<PaymentState, readonly PaymentState[]>> = {
  pending: ['success', 'failure', ...refunds],
  success: refunds,
  failure: refunds,
  refund_pending: ['refund_success', 'refund_failure'],
  refund_failure: ['refund_pending', 'refund_success'],
  refund_success: [],
}

/** States in which the outcome is open: receipts are polled. */
export const unsettledStates: readonly (PaymentState | null)[] = [null, 'pending', 'refund_pending']

/** The result for a wanted state. */
export type TransitionDecision = 'same' | 'allowed' | 'refused'

/** Decides a transition. `null` is a payment without a state; no state returns to it. */
export function decideTransition(from: PaymentState | null, to: PaymentState | null): TransitionDecision {
  if (from === to) return 'same'
  if (from === null) return 'allowed'
  return to !== null && transitions[from].includes(to) ? 'allowed' : 'refused'
}
