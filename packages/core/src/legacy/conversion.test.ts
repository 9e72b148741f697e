import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { convertAmount, findRoundestAmount, invertConversion } from './pricing.js'

type Feeds = Parameters<typeof convertAmount>[1]
const seed = Date.now()

const feed = (use: 'multiply' | 'divide') =>
  fc.record({
    use: fc.constant(use),
    rate: fc.bigInt({ min: 1n, max: 10n ** 24n }),
    decimals: fc.constantFrom(0, 1, 6, 8, 12, 18),
  })
const feeds: fc.Arbitrary<Feeds> = fc.oneof(
  fc.constant([]),
  fc.tuple(feed('multiply')),
  fc.tuple(feed('divide')),
  fc.tuple(feed('multiply'), feed('divide')),
)
const amount = fc.bigInt({ min: 0n, max: 10n ** 30n })
const near = (value: bigint) => [value - 2n, value - 1n, value, value + 1n, value + 2n].filter((each) => each >= 0n)

describe(`the conversion (seed ${seed})`, () => {
  it('multiplies, then divides, each rounded down', () => {
    const chf = { use: 'multiply', rate: 112_345_678n, decimals: 8 } as const
    const eur = { use: 'divide', rate: 108_000_000n, decimals: 8 } as const
    expect(convertAmount(1_000_001n, [chf])).toBe(1_123_457n) // 1 123 457.90...
    expect(convertAmount(1_123_457n, [eur])).toBe(1_040_237n) // 1 040 237.96...
    expect(convertAmount(1_000_001n, [chf, eur])).toBe(1_040_237n) // rounded down once it would be ...238
    expect(convertAmount(5n, [])).toBe(5n)
  })

  it('is undone by exactly the amounts that convert to the result', () => {
    fc.assert(
      fc.property(feeds, amount, (steps, value) => {
        const converted = convertAmount(value, steps)
        const range = invertConversion(converted, steps)
        if (range === null) throw new Error('the amount itself converts to it')
        expect(range.from <= value && value <= range.to).toBe(true)
        for (const each of [...near(range.from), ...near(range.to)])
          expect(convertAmount(each, steps) === converted).toBe(range.from <= each && each <= range.to)
      }),
      { seed, numRuns: 1_000 },
    )
  })

  it('is undone by the same amounts as trying all of them finds', () => {
    const small = (use: 'multiply' | 'divide') =>
      fc.record({
        use: fc.constant(use),
        rate: fc.bigInt({ min: 1n, max: 12n }),
        decimals: fc.integer({ min: 0, max: 1 }),
      })
    const steps = fc.oneof(
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
      { seed, numRuns: 400 },
    )
  })

  it('has no amount for a result that it skips', () => {
    const doubling = { use: 'multiply', rate: 2n, decimals: 0 } as const
    expect(invertConversion(3n, [doubling])).toBeNull()
    expect(invertConversion(4n, [doubling])).toEqual({ from: 2n, to: 2n })
  })
})

describe(`the roundest amount of a range (seed ${seed})`, () => {
  it.each<[bigint, bigint, number, bigint]>([
    [10_039_995n, 10_040_004n, 6, 10_040_000n], // 10.04
    [999_999n, 1_000_001n, 6, 1_000_000n], // 1
    [0n, 5n, 6, 0n],
    [1n, 9n, 6, 1n],
    [15n, 45n, 1, 20n], // 2, before 3 and 4
    [123n, 123n, 2, 123n],
    [7n, 9_999n, 0, 7n],
    [999n, 12_000n, 1, 1_000n], // whole units have no decimals, so 100 is as round as 1000
  ])('of %d to %d with %d decimals is %d', (from, to, decimals, expected) => {
    expect(findRoundestAmount({ from, to }, decimals)).toBe(expected)
  })

  const getDecimals = (value: bigint, decimals: number) => {
    let left = decimals
    for (let rest = value; left > 0 && rest % 10n === 0n; rest /= 10n) left -= 1
    return left
  }

  it('lies in the range, and none in it has fewer decimals or is smaller with as few', () => {
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
      { seed, numRuns: 150 },
    )
  })
})
