import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainAmount } from './client.js'

/** A decimal with or without an exponent as an exact fraction of integers, in lowest powers of ten: the oracle. */
function exact(text: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text) ?? []
  let digits = BigInt(whole + fraction)
  let power = Number(exponent) - fraction.length
  while (digits !== 0n && digits % 10n === 0n) {
    digits /= 10n
    power += 1
  }
  return digits === 0n ? '0' : `${digits}e${power}`
}

/** Length of a number without an exponent, from its exact fraction. */
function getLength(value: number): number {
  const [digits = '', power] = exact(String(value)).split('e')
  const places = Number(power ?? '0')
  return places >= 0 ? digits.length + places : Math.max(digits.length, 1 - places) + 1
}

test('every number keeps its exact decimal, and is rejected when that has more than 100 characters', () => {
  const seed = Date.now()
  const number = fc
    .oneof(
      fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: 1e-110, max: 1e110, noNaN: true }),
    )
    .filter((value) => !Object.is(value, -0))
  fc.assert(
    fc.property(number, (value) => {
      if (getLength(value) > 100) {
        expect(() => plainAmount(value)).toThrow(RangeError)
        return
      }
      const plain = plainAmount(value)
      expect(plain).toHaveLength(getLength(value))
      expect(plain).toMatch(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/)
      expect(exact(plain)).toBe(exact(String(value)))
      expect(Number(plain)).toBe(value)
    }),
    { seed, numRuns: 2_000 },
  )
})

test.each(['0', '0.0', '1.00', '9007199254740993', `0.${'0'.repeat(97)}1`, '9'.repeat(100)])(
  'the text %s stays unchanged',
  (text) => expect(plainAmount(text)).toBe(text),
)

describe('rejects', () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, -5e-324, -0])('%d', (value) => {
    expect(() => plainAmount(value)).toThrow(RangeError)
  })

  test.each([1e100, 1e-99, 1.7976931348623157e308, 5e-324, '9'.repeat(101), `0.${'0'.repeat(98)}1`])(
    '%s, which has more than 100 characters, without repeating it',
    (value) => {
      const tooLong = /^invoiceAmount has \d{3} characters without an exponent; pass 100 at most\.$/
      expect(() => plainAmount(value)).toThrow(RangeError)
      expect(() => plainAmount(value)).toThrow(tooLong)
    },
  )

  test.each(['', ' 1', '1 ', '1\n', '+1', '-1', '-0', '1e3', '.5', '1.', '01', '1,5', '0x10', 'NaN', '٣', '１'])(
    'the text %j, without repeating it',
    (text) => {
      expect(() => plainAmount(text)).toThrow(
        /^invoiceAmount is no plain decimal; pass text such as '12.50', without sign, exponent or spaces\.$/,
      )
      expect(() => plainAmount(text)).toThrow(TypeError)
    },
  )
})
