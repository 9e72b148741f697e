import { describe, expect, it } from 'vitest'
import type { PaymentFacts } from './payment.js'
import { choosePrimary } from './store-payments.js'

const facts = (txHash: string, ordinal: number, integrationAddress: string | null) =>
  ({ chainId: 1, txHash, ordinal, integrationAddress }) as PaymentFacts

describe('choosePrimary', () => {
  it('marks the lowest ordinal of a transaction for each integration, and for none', () => {
    const marked = choosePrimary([
      facts('0xa', 0, null),
      facts('0xa', 1, '0x1'),
      facts('0xa', 2, '0x1'),
      facts('0xa', 3, '0x2'),
      facts('0xa', 4, null),
      facts('0xb', 0, '0x1'),
    ])
    expect(marked.map((payment) => payment.primary)).toEqual([true, true, false, true, false, true])
  })

  it('does not depend on the order in which payments arrive', () => {
    const marked = choosePrimary([facts('0xa', 2, '0x1'), facts('0xa', 1, '0x1')])
    expect(marked.map((payment) => payment.primary)).toEqual([false, true])
  })
})
