import { type PaymentState, paymentStates } from '@payment-integration/contract'
import { describe, expect, it } from 'vitest'
import { decideTransition } from './state.js'

// Written out by hand from docs/decisions/states-and-versions.md: the table in the code is checked against it.
const allowed: Record<PaymentState, readonly PaymentState[]> = {
  pending: ['success', 'failure', 'refund_pending', 'refund_success', 'refund_failure'],
  success: ['refund_pending', 'refund_success', 'refund_failure'],
  failure: ['refund_pending', 'refund_success', 'refund_failure'],
  refund_pending: ['refund_success', 'refund_failure'],
  refund_failure: ['refund_pending', 'refund_success'],
  refund_success: [],
}

describe('decideTransition', () => {
  it.each(paymentStates)('a payment without a state may become %s', (to) => {
    expect(decideTransition(null, to)).toBe('allowed')
  })

  it.each(paymentStates)('%s never goes back to no state', (from) => {
    expect(decideTransition(from, null)).toBe('rejected')
  })

  it.each(paymentStates.flatMap((from) => paymentStates.map((to) => [from, to] as const)))('%s -> %s', (from, to) => {
    const expected = from === to ? 'same' : allowed[from].includes(to) ? 'allowed' : 'rejected'
    expect(decideTransition(from, to)).toBe(expected)
  })

  it('no state to no state is no change', () => {
    expect(decideTransition(null, null)).toBe('same')
  })
})
