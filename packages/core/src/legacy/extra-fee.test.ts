import { describe, expect, it } from 'vitest'
import { amount, paid, setup } from '../../test/support/legacy-setup.js'
import { hashOf, plainPricing } from '../../test/support/stored-payment.js'
import type { StoredPayment } from '../payments/payment.js'
import { defaultMaxExtraFeeBps } from './pricing.js'

const gross = 10_000_000n
const serviceFee = 20_000n
const onePercent = 100_000n

/** A payment of which `taken` units did not reach the receiver. */
const less = (taken: bigint, given: Partial<StoredPayment> = {}, of = gross) =>
  paid({ tokenOut: { ...paid().tokenOut, gross: of, net: of - taken }, ...given })

const judged = (payment: StoredPayment, maxExtraFeeBps?: number, change = {}) =>
  setup([payment], [], 149, { maxExtraFeeBps }).getErrors(change)

describe('verify, of what others took', () => {
  it('lets pass 1 % beside the fee of the service when nothing else is said, and not one unit more', async () => {
    expect(defaultMaxExtraFeeBps).toBe(100)
    expect(await judged(less(serviceFee + onePercent))).toEqual([[]])
    expect(await judged(less(serviceFee + onePercent + 1n))).toEqual([[amount]])
  })

  it.each<[number, bigint]>([
    [0, 0n],
    [1, 1_000n],
    [250, 250_000n],
    [4_999, 4_999_000n],
  ])('with a limit of %d basis points lets pass %d units and not one more', async (limit, allowed) => {
    expect(await judged(less(serviceFee + allowed), limit)).toEqual([[]])
    expect(await judged(less(serviceFee + allowed + 1n), limit)).toEqual([[amount]])
  })

  it('with a limit of 10000 basis points lets everything pass', async () => {
    expect(await judged(less(gross), 10_000)).toEqual([[]])
    expect(await judged(less(gross), 9_979)).toEqual([[amount]])
  })

  it('rejects the half that a router takes at most, and all of it as a divisor of 1 does', async () => {
    for (const taken of [serviceFee + gross / 2n - 1n, gross / 2n, gross]) {
      const payment = less(taken, { router: { ...paid().router, version: '0.1' } })
      expect(await judged(payment)).toEqual([[amount]])
    }
  })

  it('rounds both fees down', async () => {
    const invoiceAmount = '0.001999'
    // 0.2 % of 1999 units is 3.998, and 1 % is 19.99.
    expect(await judged(less(22n, {}, 1_999n), undefined, { invoiceAmount })).toEqual([[]])
    expect(await judged(less(23n, {}, 1_999n), undefined, { invoiceAmount })).toEqual([[amount]])
    // Of 1 unit there is nothing to take.
    expect(await judged(less(0n, {}, 1n), undefined, { invoiceAmount: '0.000001' })).toEqual([[]])
    expect(await judged(less(1n, {}, 1n), undefined, { invoiceAmount: '0.000001' })).toEqual([[amount]])
  })

  it.each<[string, Partial<StoredPayment>]>([
    ['no memo', { memoHex: hashOf('') }],
    ['a call that tells no fee of the service', { pricing: { ...plainPricing, serviceFee: 0n } }],
    ['a call that calls all of it a fee of the service', { pricing: { ...plainPricing, serviceFee: gross } }],
  ])('counts the same with %s', async (_what, given) => {
    expect(await judged(less(serviceFee + onePercent, given))).toEqual([[]])
    expect(await judged(less(serviceFee + onePercent + 1n, given))).toEqual([[amount]])
  })

  it.each([-1, 10_001, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects a limit of %d', (maxExtraFeeBps) => {
    const build = () => setup([], [], 149, { maxExtraFeeBps })
    expect(build).toThrow(RangeError)
    expect(build).toThrow(`maxExtraFeeBps is ${maxExtraFeeBps}; pass a whole number from 0 to 10000.`)
  })
})
