import { describe, expect, it } from 'vitest'
import { planPayment, seededFraction } from './clients.js'

function plans(seed: number, count: number) {
  const fraction = seededFraction(seed)
  return Array.from({ length: count }, (_, index) => planPayment(index + 1, fraction))
}

describe('seededFraction', () => {
  it('gives the same numbers for the same seed, and others for another', () => {
    const take = (seed: number) => Array.from({ length: 5 }, seededFraction(seed))
    expect(take(42)).toEqual(take(42))
    expect(take(42)).not.toEqual(take(43))
    expect(take(42)[0]).toBeCloseTo(0.6011037519201636, 12)
  })
})

describe('planPayment', () => {
  it('moves pending -> success, and some payments on to a refund', () => {
    const paths = new Set(plans(1, 200).map(({ updates }) => updates.map(({ state }) => state).join(' ')))
    expect([...paths].sort()).toEqual(['pending success', 'pending success refund_pending refund_success'])
  })

  it('sends a whole invoice and a recipient with success, in amounts of two decimals', () => {
    for (const { updates, settlementCents, price, memo } of plans(3, 200)) {
      const paid = updates[1]
      expect(paid?.recipient?.title).toMatch(/\w/)
      expect(paid?.invoice?.amount).toMatch(/^[1-9]\d{0,2}\.\d\d$/)
      expect(paid?.invoice?.settlementAmount).toBe((settlementCents / 100).toFixed(2))
      expect(price).toBe(`${paid?.invoice?.amount} EUR`)
      expect(memo.length).toBeLessThanOrEqual(31)
    }
  })
})
