/**
 * Which state may follow which, as the service decides. It shares no code with it. Source: docs/interface.md 3;
 * docs/decisions/transitions.md.
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
 * Whether the service lets a payment go from one state to another. The same state is no change; nothing returns to
 * none.
 */
export function mayFollow(from: PaymentBody['state'], to: PaymentBody['state']): boolean {
  return from === to || from === null || (to !== null && followers[from].includes(to))
}
