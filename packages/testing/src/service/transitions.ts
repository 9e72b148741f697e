/**
 * Decides which state may follow which. Source: docs/interface.md 3; docs/decisions/transitions.md. It shares no code
 * with the service.
 * @module
 */
import type { PaymentBody } from '@payment-integration/contract'

type State = NonNullable<PaymentBody['state']>

const refunds: readonly State[] = ['refund_pending', 'refund_success', 'refund_failure']
const followers: Readonly<Record<State, readonly State[]>> = {
  pending: ['success', 'failure', ...refunds],
  success: refunds,
  failure: refunds,
  refund_pending: ['refund_success', 'refund_failure'],
  refund_failure: ['refund_pending', 'refund_success'],
  refund_success: [],
}

/**
 * Whether the service allows a payment to go from one state to another. The same state is no change; no state returns
 * to null.
 */
export function mayFollow(from: PaymentBody['state'], to: PaymentBody['state']): boolean {
  return from === to || from === null || (to !== null && followers[from].includes(to))
}
