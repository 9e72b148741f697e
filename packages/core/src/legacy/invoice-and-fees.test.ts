import fc from 'fast-check'
import { expect, it } from 'vitest'
import { getRational, sameRational } from '../../test/support/rational.js'
import { hashOf, plainPricing, storedPayment } from '../../test/support/stored-payment.js'
import type { PriceFeedFacts, PricingFacts } from '../payments/payment.js'
import * as amounts from './invoice-and-fees.js'

const { computeFees, convertAmount, deriveInvoice, expandExponent, findRoundestAmount, formatConversion } = amounts
const { invertConversion, isPlainDecimal, parseNumberToken } = amounts
const contract = `0x${'fe'.repeat(20)}`
const feed = (use: PriceFeedFacts['use'], pair: string | null, rate: bigint, given: Partial<PriceFeedFacts> = {}) => {
  const [base = '', quote = ''] = pair?.split('/') ?? []
  return { use, contract, pair: pair === null ? null : { base, quote }, rate, decimals: 8, ...given }
}
const multiply = (pair: string | null, rate = 110_000_000n, given = {}) => feed('multiply', pair, rate, given)
const divide = (pair: string | null, rate = 110_000_000n, given = {}) => feed('divide', pair, rate, given)
const external = (pair: string | null) => multiply(pair, 11n * 10n ** 17n, { contract: null, decimals: 18 })

const zchf = { symbol: 'ZCHF', currency: 'CHF' }
const usdc = { symbol: 'USDC', currency: 'USD' }

function judge(pricing: Partial<PricingFacts>, gross = 1_100_000n) {
  const { tokenOut } = storedPayment({ id: 'p' })
  const all = { ...plainPricing, ...pricing }
  return {
    invoice: deriveInvoice({ tokenOut: { ...tokenOut, gross }, pricing: all }),
    conversion: formatConversion(all),
  }
}

const crvUsd = { symbol: 'crvUSD', currency: 'USD' }
const ofCrvUsd = { feeds: [divide('CRVUSD/USD', 100_011_000n)], listedToken: crvUsd }
const ethToChf = { feeds: [multiply('ETH/USD', 200_000_000n), divide('CHF/USD')], listedToken: zchf }
const thbToChf = { feeds: [external('THB/USD'), divide('CHF/USD')], listedToken: zchf }

it.each<[string, Partial<PricingFacts>, string]>([
  ['without feeds is what was paid', {}, '1.1 USD'],
  ['through a multiplying feed is in its base', { feeds: [multiply('EUR/USD')] }, '1 EUR chainlink:EURUSD'],
  ['through a feed that quotes the token by its symbol', { feeds: [multiply('ETH/USDC')] }, '1 ETH chainlink:ETHUSDC'],
  ['through a divisor is in its quote', { feeds: [divide('CHF/USD')], listedToken: zchf }, '1.21 USD chainlink:USDCHF'],
  ['through the token’s own feed', { feeds: [divide('USDC/USD', 100_011_000n)] }, '1.100121 USD chainlink:USDUSDC'],
  ['through such a feed of a symbol with small letters', ofCrvUsd, '1.100121 USD chainlink:USDCRVUSD'],
  ['through both feeds is in the base of the first', ethToChf, '0.605 ETH chainlink:ETHCHF'],
  ['through a signed rate from outside', { feeds: [external('THB/USD')] }, '1 THB external:THBUSD'],
  ['through a signed rate and a feed', thbToChf, '1.1 THB external:THBCHF'],
  ['is what the call names', { feeds: [multiply('EUR/USD')], calledAmount: 1_000_000n }, '1 EUR chainlink:EURUSD'],
])('the invoice %s', (_what, pricing, expected) => {
  const { invoice, conversion } = judge(pricing)
  expect(`${invoice?.amount} ${invoice?.currency} ${conversion}`.trim()).toBe(expected)
})

it('the invoice is the amount that the call names, also where a rounder one gives the same', () => {
  const feeds = [multiply('EUR/USD')]
  expect(judge({ feeds, calledAmount: 999_999n }, 1_099_998n).invoice?.amount).toBe('0.999999')
  expect(
    judge({ feeds: [divide('CHF/USD', 99_999_999n)], listedToken: zchf, calledAmount: 1_100_001n }).invoice?.amount,
  ).toBe('1.100001')
})

it.each<[string, Partial<PricingFacts>]>([
  ['a token that is not listed', { listedToken: null }],
  ['a token that is not listed, with a listed feed', { listedToken: null, feeds: [multiply('CHF/USD')] }],
  ['an unlisted feed', { feeds: [multiply(null)] }],
  ['an unlisted second feed', { feeds: [multiply('EUR/USD'), divide(null)] }],
  ['an unlisted first feed', { feeds: [multiply(null), divide('CHF/USD')], listedToken: zchf }],
  ['a signed rate of an unknown currency', { feeds: [external(null)] }],
  ['a signed rate and an unlisted feed', { feeds: [external('THB/USD'), divide(null)] }],
  ['a feed into another currency than the token', { feeds: [multiply('EUR/USD')], listedToken: zchf }],
  ['a feed the wrong way round', { feeds: [multiply('USD/CHF')] }],
  ['a dividing feed of another currency', { feeds: [divide('EUR/USD')], listedToken: zchf }],
  ['a dividing feed that only quotes the token', { feeds: [divide('CHF/USD')] }],
  ['two feeds that do not meet', { feeds: [multiply('ETH/EUR'), divide('CHF/USD')], listedToken: zchf }],
  ['two feeds that end elsewhere', { feeds: [multiply('ETH/USD'), divide('EUR/USD')], listedToken: zchf }],
  ['two feeds that multiply', { feeds: [multiply('ETH/EUR'), multiply('EUR/USD')] }],
  ['two feeds that divide', { feeds: [divide('CHF/USD'), divide('USDC/USD')] }],
  ['feeds in the other order', { feeds: [divide('CHF/USD'), multiply('CHF/USD')] }],
  ['three feeds', { feeds: [multiply('EUR/USD'), divide('USDC/USD'), divide('USDC/USD')] }],
  ['a currency that verify rejects', { listedToken: { symbol: 'EURC.e', currency: 'EURC.e' } }],
  ['a feed of a currency that verify rejects', { feeds: [multiply('cbETH/USD')] }],
  ['a feed to a bad currency', { feeds: [multiply('EUR/USDC.e')], listedToken: { symbol: 'USDC.e', currency: 'USD' } }],
])('the invoice is unknown, and so is the conversion, with %s', (_what, pricing) => {
  expect(judge(pricing)).toEqual({ invoice: null, conversion: '' })
  expect(judge({ ...pricing, calledAmount: 1n }).invoice).toBeNull()
})

it('the invoice is unknown when no amount converts to what was paid', () => {
  expect(judge({ feeds: [multiply('ETH/USD', 200_000_000_000n)] }, 2_001n).invoice).toBeNull()
  expect(judge({ feeds: [multiply('ETH/USD', 200_000_000_000n)] }, 2_000n).invoice).toEqual({
    amount: '0.000001',
    currency: 'ETH',
  })
})

it('the invoice is the roundest of the amounts that convert to what was paid', () => {
  // 10.04 USD at 1.00011 USD for a USDC is 10.038895 USDC, rounded down; 10.039999 to 10.040000 USD all give it.
  expect(judge({ feeds: [divide('USDC/USD', 100_011_000n)], listedToken: usdc }, 10_038_895n).invoice?.amount).toBe(
    '10.04',
  )
})

it('a conversion multiplies, then divides, each rounded down', () => {
  const chf = { use: 'multiply', rate: 112_345_678n, decimals: 8 } as const
  const eur = { use: 'divide', rate: 108_000_000n, decimals: 8 } as const
  expect(convertAmount(1_000_001n, [chf])).toBe(1_123_457n) // 1 123 457.90...
  expect(convertAmount(1_123_457n, [eur])).toBe(1_040_237n) // 1 040 237.96...
  expect(convertAmount(1_000_001n, [chf, eur])).toBe(1_040_237n) // rounded down once it would be ...238
  expect(convertAmount(5n, [])).toBe(5n)
})

it('a conversion is undone by the same amounts as trying all of them finds', () => {
  const small = (use: 'multiply' | 'divide') =>
    fc.record({ use: fc.constant(use), rate: fc.bigInt({ min: 1n, max: 12n }), decimals: fc.nat(1) })
  const steps = fc.oneof(
    fc.constant([]),
    fc.tuple(small('multiply')),
    fc.tuple(small('divide')),
    fc.tuple(small('multiply'), small('divide')),
  )
  // Nothing above converts to 5 or less: 6 units, at most 12 of them for one, at a tenth each.
  const all = Array.from({ length: 6 * 12 * 10 + 1 }, (_, index) => BigInt(index))
  fc.assert(
    fc.property(steps, fc.bigInt({ min: 0n, max: 5n }), (feeds, converted) => {
      const found = all.filter((each) => convertAmount(each, feeds) === converted)
      const range = found.length === 0 ? null : { from: found[0], to: found.at(-1) }
      expect(invertConversion(converted, feeds)).toEqual(range)
    }),
    { numRuns: 400 },
  )
})

const getDecimals = (value: bigint, decimals: number) => {
  let left = decimals
  for (let rest = value; left > 0 && rest % 10n === 0n; rest /= 10n) left -= 1
  return left
}

it('the roundest amount of a range lies in the range, and none in it has fewer decimals or is smaller with as few', () => {
  const width = fc.bigInt({ min: 0n, max: 300n })
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 20n }),
      width,
      fc.integer({ min: 0, max: 18 }),
      (from, more, decimals) => {
        const to = from + more
        const found = findRoundestAmount({ from, to }, decimals)
        expect(found >= from && found <= to).toBe(true)
        const fewest = getDecimals(found, decimals)
        for (let each = from; each <= to; each += 1n) {
          expect(getDecimals(each, decimals)).toBeGreaterThanOrEqual(fewest)
          if (each < found) expect(getDecimals(each, decimals)).toBeGreaterThan(fewest)
        }
      },
    ),
    { numRuns: 150 },
  )
})

const payment = (given: { gross: bigint; net: bigint; memo?: string; serviceFee?: bigint | null }) => {
  const { gross, net, memo = 'order', serviceFee = null } = given
  const { tokenOut } = storedPayment({ id: 'p' })
  return { tokenOut: { ...tokenOut, gross, net }, memoHex: hashOf(memo), pricing: { ...plainPricing, serviceFee } }
}
const toldWithoutMemo = { gross: 1_000_000n, net: 995_500n, memo: '' }
const service = (value: bigint) => ({ type: 'ServiceFee', value })
const extra = (value: bigint) => ({ type: 'ExtraFee', value })

it.each([
  ['the documented sample: 0.2 % service', { gross: 1_000_000n, net: 995_500n }, [service(2_000n), extra(2_500n)]],
  ['no fees', { gross: 1_000_000n, net: 1_000_000n }, []],
  ['the service fee alone', { gross: 1_000_000n, net: 998_000n }, [service(2_000n)]],
  ['no memo: all of it extra', { gross: 1_000_000n, net: 995_500n, memo: '' }, [extra(4_500n)]],
  ['a service fee rounded down', { gross: 999n, net: 990n }, [service(1n), extra(8n)]],
  ['a service fee that rounds to nothing', { gross: 499n, net: 490n }, [extra(9n)]],
  ['less than the usual service fee: all of it that', { gross: 1_000_000n, net: 999_000n }, [service(1_000n)]],
  ['what the call tells, without a memo', { ...toldWithoutMemo, serviceFee: 4_000n }, [service(4_000n), extra(500n)]],
  ['a call that tells none', { gross: 1_000_000n, net: 995_500n, serviceFee: 0n }, [extra(4_500n)]],
  ['a call that tells more than there is', { gross: 1_000_000n, net: 995_500n, serviceFee: 9_000n }, [service(4_500n)]],
])('splits %s', (_what, given, parts) => {
  const fees = computeFees(payment(given))
  expect(fees.parts).toEqual(parts)
  expect(fees.total).toBe(given.gross - given.net)
  expect(fees.parts.reduce((sum, { value }) => sum + value, 0n)).toBe(fees.total)
})

const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{0,${most}}$`))
const whole = fc.oneof(
  fc.constant('0'),
  fc.tuple(fc.stringMatching(/^[1-9]$/), digits(24)).map((parts) => parts.join('')),
)
const plain = fc.tuple(whole, digits(20), fc.integer({ min: 0, max: 4 })).map(([integer, fraction, zeros]) => {
  const all = `${fraction}${'0'.repeat(zeros)}`
  return all === '' ? integer : `${integer}.${all}`
})
const token = fc
  .tuple(plain, fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.nat(30)), { nil: [] }))
  .map(([decimal, exponent]) => `${decimal}${exponent.join('')}`)

function oracle(text: string) {
  const value = getRational(text)
  if (value === null) throw new Error(`${text} is no decimal`)
  return value
}

it('decimals of JSON numbers are written out as the same rational, plain and in the shortest form', () => {
  fc.assert(
    fc.property(token, (text) => {
      const written = expandExponent(text)
      if (written === null) throw new Error(`${text} was rejected`)
      expect(isPlainDecimal(written)).toBe(true)
      expect(written).not.toMatch(/\.[0-9]*0$/)
      expect(sameRational(oracle(written), oracle(text))).toBe(true)
    }),
    { numRuns: 3_000 },
  )
})

it('decimals of JSON numbers are read exactly when what JSON.parse makes of them is written as the same rational', () => {
  const met = new Set<boolean>()
  fc.assert(
    fc.property(fc.oneof(token, fc.double({ min: 1e-60, max: 1e60, noNaN: true }).map(String)), (text) => {
      const seenByOthers = JSON.stringify(JSON.parse(text)) as string
      const same = sameRational(oracle(seenByOthers), oracle(text))
      met.add(same)
      const read = parseNumberToken(text)
      expect(read !== null).toBe(same)
      if (read !== null) expect(sameRational(oracle(read), oracle(text))).toBe(true)
    }),
    { numRuns: 3_000 },
  )
  expect(met.size).toBe(2)
})

it.each(['0.0', '9007199254740993', `0.${'1'.repeat(98)}`, '1'.repeat(100)])('a plain decimal is %s', (text) => {
  expect(isPlainDecimal(text)).toBe(true)
})
it.each([
  ...['', ' 1', '1 ', '1\n', '+1', '-1', '-0', '01', '00', '1.', '.5', '1..5', '1.5.5', '1,5', '1_000', '1e0'],
  ...['1E3', '0x10', '1n', 'NaN', 'Infinity', '٣', '１', '½', '1\u0000'],
  '1'.repeat(101),
])('a plain decimal is not %j', (text) => {
  expect(isPlainDecimal(text)).toBe(false)
})

it.each([
  ['0e999999999999', '0'],
  ['1e99', `1${'0'.repeat(99)}`],
  ['1e-98', `0.${'0'.repeat(97)}1`],
])('a JSON number %s is read as %s', (text, expected) => expect(parseNumberToken(text)).toBe(expected))

it.each([
  ['one too large for a double', '1e400'],
  ['one too small for a double', '1e-400'],
  ['101 digits', '1e100'],
  ['101 characters below 1', '1e-99'],
  ['an endless exponent', '1e99999999999999999999'],
  ['a negative one', '-1'],
  ['a negative zero', '-0'],
  ['NaN', 'NaN'],
  ['a leading zero', '01'],
  ['a leading point', '.5'],
  ['a trailing point', '5.'],
])('a JSON number %s is rejected', (_what, text) => expect(parseNumberToken(text)).toBeNull())
