import { encodeAbiParameters, stringToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { parseDecimals, parseSymbol } from './token-metadata.js'

const string = (text: string) => encodeAbiParameters([{ type: 'string' }], [text])
const rawString = (hex: string) =>
  `0x${'20'.padStart(64, '0')}${(hex.length / 2).toString(16).padStart(64, '0')}${hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')}`

describe('symbol', () => {
  test.each([
    ['a string', string('USDC'), 'USDC'],
    ['bytes32', stringToHex('MKR', { size: 32 }), 'MKR'],
    ['bytes32 without padding', stringToHex('A'.repeat(32)), 'A'.repeat(32)],
    ['text with spaces and signs, verbatim', string('  a<b>\n‮x '), '  a<b>\n‮x '],
    ['letters outside the basic plane', string('💶💶'), '💶💶'],
    ['a byte order mark, verbatim', string('\ufeffX'), '\ufeffX'],
    ['no answer', '0x', null],
    ['an empty string', string(''), null],
    ['32 zero bytes', `0x${'00'.repeat(32)}`, null],
    ['bytes that are not UTF-8', rawString('c328'), null],
    ['bytes32 that is not UTF-8', `0xff${'00'.repeat(31)}`, null],
    ['a NUL inside', string('A\0B'), null],
    ['a NUL inside bytes32', stringToHex('A\0B', { size: 32 }), null],
    ['a length beyond the answer', `0x${'20'.padStart(64, '0')}${'ff'.padStart(64, '0')}${'41'.repeat(32)}`, null],
    ['an offset beyond the answer', `0x${'ff'.repeat(32)}${'41'.repeat(32)}`, null],
    ['half an answer', '0x0020', null],
  ])('%s', (_, answer, expected) => expect(parseSymbol(answer)).toBe(expected))

  test.each(['A', 'é', '€', '💶'])('is cut to 64 code points, here of %s', (letter) => {
    expect(parseSymbol(string(letter.repeat(64)))).toBe(letter.repeat(64))
    expect(parseSymbol(string(letter.repeat(1_000)))).toBe(letter.repeat(64))
    expect(parseSymbol(string(`x${letter.repeat(1_000)}`))).toBe(`x${letter.repeat(63)}`)
  })
})

describe('decimals', () => {
  const uint = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value])
  test.each([
    ['0', uint(0n), 0],
    ['18', uint(18n), 18],
    ['255', uint(255n), 255],
    ['256', uint(256n), 0],
    ['the largest number', uint(2n ** 256n - 1n), 0],
    ['a long answer', `${uint(6n)}${'ff'.repeat(32)}`, 6],
    ['no answer', '0x', 0],
    ['a short answer', '0x06', 0],
  ])('%s', (_, answer, expected) => expect(parseDecimals(answer)).toBe(expected))
})
