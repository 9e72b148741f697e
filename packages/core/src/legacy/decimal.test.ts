import fc from 'fast-check'
import { expect, it } from 'vitest'
import { getRational, sameRational } from '../../test/support/rational.js'
import { expandExponent, isPlainDecimal, parseNumberToken } from './invoice-and-fees.js'

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
