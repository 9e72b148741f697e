import fc from 'fast-check'
import { expect, it } from 'vitest'
import { amount, paid, setup } from '../../test/support/legacy-setup.js'
import { getRational, sameRational } from '../../test/support/rational.js'
import { formatUnits } from '../payments/payment.js'

it('verify matches an amount exactly when it is the same rational, as text and as number', async () => {
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
    { numRuns: 1_000 },
  )
  expect([met.string.size, met.number.size]).toEqual([2, 2])
})
