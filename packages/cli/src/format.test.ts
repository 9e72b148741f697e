import { describe, expect, it } from 'vitest'
import { duration, grouped, plain, rate, span, table } from './output.js'

describe('figures', () => {
  it.each([
    [0, '0 ms'],
    [1, '1 ms'],
    [1_500, '1,500 ms'],
    [10_000, '10 s'],
    [5_400_000, '90 min'],
    [86_400_000, '24 h'],
    [129_600_000, '36 h'],
    [604_800_000, '7 days'],
  ])('writes a duration of %s ms as %s', (ms, text) => expect(duration(ms)).toBe(text))

  it.each([
    [0, '0'],
    [999.6, '1,000'],
    [1_204_331, '1,204,331'],
  ])('groups %s as %s', (value, text) => expect(grouped(value)).toBe(text))

  it.each([
    [0, '0'],
    [0.016, '0.02'],
    [8.26, '8.3'],
    [1_203.6, '1,204'],
  ])('writes the rate %s as %s', (value, text) => expect(rate(value)).toBe(text))

  it.each([
    [0, '0 s'],
    [0.2, '1 s'],
    [89, '89 s'],
    [90, '2 min'],
    [5_400, '2 h'],
    [172_800, '2 days'],
  ])('writes %s seconds as %s', (value, text) => expect(span(value)).toBe(text))
})

describe('table', () => {
  it('puts columns below each other, numbers to the right', () => {
    const rows = [
      ['chain', 'head', 'role'],
      ['1', '1,204', 'leads'],
      ['42161', '-', 'stands by'],
    ]
    expect(table(rows)).toEqual(['chain   head  role', '    1  1,204  leads', '42161      -  stands by'])
  })

  it('is nothing without rows', () => expect(table([])).toEqual([]))
})

describe('plain', () => {
  it('returns one line without control and direction characters', () => {
    expect(plain('a\u001b[2Jb\r\nc\u202ed\u2028e\té 中')).toBe('a [2Jb c d e\té 中')
  })
})
