import { expect, it } from 'vitest'
import { hashOf, plainPricing, storedPayment } from '../../test/support/stored-payment.js'
import { computeFees } from './pricing.js'

const payment = (given: { gross: bigint; net: bigint; memo?: string; serviceFee?: bigint | null }) => {
  const { gross, net, memo = 'order', serviceFee = null } = given
  const { tokenOut } = storedPayment({ id: 'p' })
  return { tokenOut: { ...tokenOut, gross, net }, memoHex: hashOf(memo), pricing: { ...plainPricing, serviceFee } }
}
const service = (value: bigint) => ({ type: 'ServiceFee', value })
const extra = (value: bigint) => ({ type: 'ExtraFee', value })

it.each([
  [
    'the documented sample: 0.2 % for the service, the rest extra',
    { gross: 1_000_000n, net: 995_500n },
    [service(2_000n), extra(2_500n)],
  ],
  ['no fees', { gross: 1_000_000n, net: 1_000_000n }, []],
  ['the service fee alone', { gross: 1_000_000n, net: 998_000n }, [service(2_000n)]],
  ['no memo: all of it extra', { gross: 1_000_000n, net: 995_500n, memo: '' }, [extra(4_500n)]],
  ['a service fee rounded down', { gross: 999n, net: 990n }, [service(1n), extra(8n)]],
  ['a service fee that rounds to nothing', { gross: 499n, net: 490n }, [extra(9n)]],
  ['less than the usual service fee: all of it that', { gross: 1_000_000n, net: 999_000n }, [service(1_000n)]],
  [
    'what the call tells, without a memo',
    { gross: 1_000_000n, net: 995_500n, memo: '', serviceFee: 4_000n },
    [service(4_000n), extra(500n)],
  ],
  ['a call that tells none', { gross: 1_000_000n, net: 995_500n, serviceFee: 0n }, [extra(4_500n)]],
  ['a call that tells more than there is', { gross: 1_000_000n, net: 995_500n, serviceFee: 9_000n }, [service(4_500n)]],
])('splits %s', (_what, given, parts) => {
  const fees = computeFees(payment(given))
  expect(fees.parts).toEqual(parts)
  expect(fees.total).toBe(given.gross - given.net)
  expect(fees.parts.reduce((sum, { value }) => sum + value, 0n)).toBe(fees.total)
})
