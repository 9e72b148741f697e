import { describe, expect, it } from 'vitest'
import { parseHandle } from './accounts.js'

describe('parseHandle', () => {
  it.each([
    ['shop', 'shop'],
    ['Shop-7', 'shop-7'],
    ['a', 'a'],
    ['7', '7'],
    ['vitalik.eth', 'vitalik.eth'],
    ['a_b--c..d', 'a_b--c..d'],
    ['A'.repeat(63), 'a'.repeat(63)],
    [`0x${'a'.repeat(39)}`, `0x${'a'.repeat(39)}`],
  ])('reads %s', (text, handle) => expect(parseHandle(text)).toBe(handle))

  it.each([
    ...['', '-a', 'a-', '.a', 'a_', 'a b', ' a', 'a\n'],
    'a'.repeat(64),
    ...['a/b', 'a\u0000', '\u212aiosk'], // the Kelvin sign lowercases to k
    'ſhop', // the long s uppercases to S
    'şhop',
    ...['\uff53hop', `0x${'a'.repeat(40)}`, `0X${'A'.repeat(40)}`],
  ])('rejects %j', (text) => expect(parseHandle(text)).toBeNull())
})
