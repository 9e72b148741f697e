import { primitives } from '@payment-integration/contract/internal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Amount,
  addAmounts,
  compareAmounts,
  formatAmount,
  fromBaseUnits,
  isAmount,
  parseAmount,
  type Rounding,
  subtractAmounts,
  toBaseUnits,
} from './exports/amounts.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const runs = { seed, numRuns: 1_000 }
const of = (text: string) => parseAmount(text)

/** Amounts from zero to more digits than any double or token has. */
const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 80 })
const amount: fc.Arbitrary<Amount> = fc
  .tuple(digits, fc.option(digits, { nil: null }))
  .map(([whole, fraction]) => of(`${BigInt(whole)}${fraction === null ? '' : `.${fraction}`}`))

/** The oracle: an amount in units of 10^-80, computed on plain text. */
const scale = 80
function getUnits(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(scale, '0'))
}

describe('an amount', () => {
  test.each(['0', '0.0', '1', '12.50', '0.000001', '9'.repeat(200)])('is %s, unchanged', (text) => {
    expect(of(text)).toBe(text)
    expect(isAmount(text)).toBe(true)
  })

  test('has at most 1000 characters, parsed or computed', () => {
    const longest = of('9'.repeat(1_000))
    expect(of(longest)).toBe(longest)
    const call = [
      () => of(`${longest}9`),
      () => of('!'.repeat(1_001)),
      () => addAmounts(longest, of('1')),
      () => addAmounts(longest, of('0.1')),
      () => formatAmount(longest, { digits: 1 }),
      () => fromBaseUnits(10n ** 1_000n, 0),
      () => compareAmounts(`0.${'1'.repeat(999)}` as Amount, of('1')),
    ]
    for (const each of call) expect(each).toThrow(RangeError)
    expect(isAmount(`${longest}9`)).toBe(false)
    expect(addAmounts(longest)).toBe(longest)
    expect(fromBaseUnits(10n ** 999n, 0)).toHaveLength(1_000)
  })

  test('of a number with 400000 inner zeros is rejected in linear time', () => {
    expect(() => fromBaseUnits(10n ** 400_000n + 1n, 0)).toThrow(RangeError)
  })

  test.each(['', ...' 1|1 |01|.5|1.|-1|+1|1e3|1,5|1_000|0x1|NaN|Infinity|1.2.3|1\n|١'.split('|')])(
    'is not %j',
    (text) => {
      expect(isAmount(text)).toBe(false)
      expect(() => parseAmount(text)).toThrow(TypeError)
    },
  )

  test(`agrees with the contract's check on any text (seed ${seed})`, () => {
    const near = fc.string({ unit: fc.constantFrom(...'0123456789.-+e ,\n'), maxLength: 8 })
    fc.assert(
      fc.property(fc.oneof(near, amount), (text) => {
        expect(isAmount(text)).toBe(primitives.amount.safeParse(text).success)
      }),
      runs,
    )
  })

  test('is checked at run time by every function, whatever its type says', () => {
    const wrong = '1e3' as Amount
    for (const call of [
      () => compareAmounts(wrong, of('1')),
      () => addAmounts(of('1'), wrong),
      () => subtractAmounts(of('1'), wrong),
      () => formatAmount(wrong),
      () => toBaseUnits(wrong, 2),
    ])
      expect(call).toThrow(TypeError)
  })

  test('is not repeated by the error, because it could be a misplaced secret', () => {
    expect(() => parseAmount('sk_secret')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('sk_secret') }),
    )
  })
})

describe(`exact arithmetic (seed ${seed})`, () => {
  test('comparing agrees with comparing integers', () => {
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const [x, y] = [getUnits(a), getUnits(b)]
        expect(compareAmounts(a, b)).toBe(x === y ? 0 : x < y ? -1 : 1)
        expect(compareAmounts(a, a)).toBe(0)
      }),
      runs,
    )
    expect(compareAmounts(of('1'), of('1.000'))).toBe(0)
  })

  test('adding agrees with adding integers, with the decimals of the longest', () => {
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 6 }), (amounts) => {
        const sum = addAmounts(...amounts)
        expect(getUnits(sum)).toBe(amounts.reduce((total, each) => total + getUnits(each), 0n))
        const getPlaces = (text: string) => text.split('.')[1]?.length ?? 0
        expect(getPlaces(sum)).toBe(Math.max(0, ...amounts.map(getPlaces)))
        expect(isAmount(sum)).toBe(true)
      }),
      runs,
    )
    expect(addAmounts()).toBe('0')
  })

  test('subtracting reverses adding and rejects a negative result', () => {
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        expect(compareAmounts(subtractAmounts(addAmounts(a, b), b), a)).toBe(0)
        const [greater, less] = compareAmounts(a, b) < 0 ? [b, a] : [a, b]
        expect(getUnits(subtractAmounts(greater, less))).toBe(getUnits(greater) - getUnits(less))
        if (compareAmounts(a, b) !== 0) expect(() => subtractAmounts(less, greater)).toThrow(RangeError)
      }),
      runs,
    )
    expect(subtractAmounts(of('1.0'), of('1'))).toBe('0.0')
  })

  test('converting to base units and back gives the same value', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 256n - 1n), fc.nat(255), (units, decimals) => {
        const text = fromBaseUnits(units, decimals)
        expect(toBaseUnits(text, decimals)).toBe(units)
        expect(text).toBe(formatAmount(text))
      }),
      runs,
    )
    expect(toBaseUnits(of('1.500'), 1)).toBe(15n)
  })

  test('converting to base units rejects more decimals than the token has', () => {
    expect(() => toBaseUnits(of('0.0000001'), 6)).toThrow(RangeError)
    expect(() => toBaseUnits(of('1'), 256)).toThrow(RangeError)
    expect(() => toBaseUnits(of('1'), 1.5)).toThrow(RangeError)
    expect(() => fromBaseUnits(-1n, 6)).toThrow(RangeError)
    expect(() => fromBaseUnits(1 as never, 6)).toThrow(TypeError)
  })
})

describe('formatting', () => {
  test.each<[string, number | undefined, Rounding | undefined, string]>([
    ['12.5', 2, undefined, '12.50'],
    ['12.00', undefined, undefined, '12'],
    ['0.000', undefined, undefined, '0'],
    ['12.500', 1, undefined, '12.5'],
    ['7', 0, undefined, '7'],
    ['12.34', 2, 'up', '12.34'],
    ['12.345', 2, 'half-up', '12.35'],
    ['12.345', 2, 'half-even', '12.34'],
    ['12.355', 2, 'half-even', '12.36'],
    ['0.5', 0, 'half-even', '0'],
    ['1.5', 0, 'half-even', '2'],
    ['9.99', 1, 'up', '10.0'],
  ])('%s with %s digits, rounded %s, is %s', (text, digits, rounding, expected) => {
    expect(formatAmount(of(text), { digits, rounding })).toBe(expected)
  })

  test('rejects a loss of digits without a rounding', () => {
    expect(() => formatAmount(of('12.345'), { digits: 2 })).toThrow(RangeError)
    expect(() => formatAmount(of('12.345'), { digits: 2, rounding: 'nearest' as never })).toThrow(TypeError)
    expect(() => formatAmount(of('1'), { digits: 1, rounding: 'constructor' as never })).toThrow(TypeError)
    expect(() => formatAmount(of('1'), { digits: -1 })).toThrow(RangeError)
    expect(() => formatAmount(of('1'), { digits: 256 })).toThrow(RangeError)
  })

  test(`every rounding agrees with integer arithmetic (seed ${seed})`, () => {
    const roundings: readonly Rounding[] = ['down', 'up', 'half-up', 'half-even']
    fc.assert(
      fc.property(amount, fc.nat(20), fc.constantFrom(...roundings), (text, to, rounding) => {
        const unit = 10n ** BigInt(scale - to)
        const units = getUnits(text)
        const [low, rest] = [units / unit, units % unit]
        const nearer = rest * 2n - unit
        const goesUp = {
          down: false,
          up: rest > 0n,
          'half-up': nearer >= 0n,
          'half-even': nearer > 0n || (nearer === 0n && low % 2n === 1n),
        }[rounding]
        const found = formatAmount(text, { digits: to, rounding })
        expect(getUnits(found)).toBe((goesUp ? low + 1n : low) * unit)
        expect(found.split('.')[1]?.length ?? 0).toBe(to)
      }),
      runs,
    )
  })
})
