import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  address,
  amount,
  currency,
  elsewhere,
  link,
  paid,
  receiver,
  setup,
  usdc,
} from '../../test/support/legacy-setup.js'
import { getRational, sameRational } from '../../test/support/rational.js'
import { plainPricing } from '../../test/support/stored-payment.js'
import { formatUnits } from '../payments/payment.js'

const seed = Date.now()
describe(`verify against the oracle (seed ${seed})`, () => {
  it('matches an amount exactly when it is the same rational, as text and as number', async () => {
    const spelled = (text: string) =>
      fc.integer({ min: 0, max: 3 }).map((zeros) => {
        const point = text.includes('.') || zeros === 0 ? '' : '.'
        return `${text}${point}${'0'.repeat(zeros)}`
      })
    const asked = (gross: bigint, decimals: number) =>
      fc.oneof(
        spelled(formatUnits(gross, decimals)),
        spelled(formatUnits(gross + 1n, decimals)),
        fc.constant(Number(formatUnits(gross, decimals))),
        fc.double({ min: 1e-6, max: 1e15, noNaN: true }),
      )
    const sample = fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.integer({ min: 0, max: 18 }))
      .chain(([gross, decimals]) => fc.tuple(fc.constant(gross), fc.constant(decimals), asked(gross, decimals)))
    const met = { string: new Set<boolean>(), number: new Set<boolean>() }
    await fc.assert(
      fc.asyncProperty(sample, async ([gross, decimals, invoiceAmount]) => {
        const { tokenOut } = paid()
        const { getErrors } = setup([paid({ tokenOut: { ...tokenOut, decimals, gross, net: gross } })])
        const [have, want] = [{ top: gross, bottom: 10n ** BigInt(decimals) }, getRational(String(invoiceAmount))]
        if (want === null) throw new Error(`${invoiceAmount} is no decimal`)
        const same = sameRational(have, want)
        met[typeof invoiceAmount as 'string' | 'number'].add(same)
        expect(await getErrors({ invoiceAmount })).toEqual([same ? [] : [amount]])
      }),
      { seed, numRuns: 1_000 },
    )
    expect([met.string.size, met.number.size]).toEqual([2, 2])
  })

  it('matches a transaction exactly when every one of its payments does', async () => {
    const one = fc.record({ right: fc.boolean(), gross: fc.constantFrom(10n ** 7n, 9_999_999n), symbol: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 5 }), async (given) => {
        const payments = given.map(({ right, gross, symbol }, ordinal) =>
          paid({
            ordinal,
            receiver: (right ? receiver : elsewhere).toLowerCase(),
            tokenOut: { address: usdc, symbol: 'USDC', decimals: 6, gross, net: gross },
            pricing: { ...plainPricing, listedToken: symbol ? plainPricing.listedToken : null },
          }),
        )
        const expected = given.map(({ right, gross, symbol }) => {
          const sameAmount = symbol && gross === 10_000_000n
          const failures = [
            [!symbol, link],
            [!right, address],
            [!symbol, currency],
            [!sameAmount, amount],
          ] as const
          return failures.flatMap(([failed, text]) => (failed ? [text] : []))
        })
        expect(await setup(payments).getErrors()).toEqual(expected)
      }),
      { seed, numRuns: 300 },
    )
  })
})
