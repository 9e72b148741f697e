/** Which state may follow which. Source: docs/decisions/transitions.md, which completes docs/interface.md 3. @module */
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

/** What a wish to go from one state to another comes to. */
export type TransitionDecision = 'same' | 'allowed' | 'refused'

/** Judges a transition; `null` is a payment without a stored state, to which nothing returns. */
export function decideTransition(from: PaymentState | null, to: PaymentState | null): TransitionDecision {
  if (from === to) return 'same'
  if (from === null) return 'allowed'
  return to !== null && transitions[from].includes(to) ? 'allowed' : 'refused'
}
