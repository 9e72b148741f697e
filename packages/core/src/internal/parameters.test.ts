import { expect, it } from 'vitest'
import { parseAddress, parseLimit, parseTxHash } from './parameters.js'

it.each([
  [undefined, 50],
  ['1', 1],
  ['50', 50],
  ['200', 200],
])('parseLimit reads %s as %s', (text, limit) => expect(parseLimit(text)).toBe(limit))

it.each([
  ...['0', '201', '-1', '+5', '1.0', '1e1', ' 5', '5 ', '', '050', '0x10', '٥', '９', 'NaN', '99999999999', '1,0'],
  '5\n',
])('parseLimit rejects %j with ERR_LIMIT_INVALID', (text) => {
  expect(() => parseLimit(text)).toThrow(expect.objectContaining({ code: 'ERR_LIMIT_INVALID' }))
})

it('parseTxHash lowercases a hash of any case', () => {
  expect(parseTxHash(`0x${'Ab'.repeat(32)}`)).toBe(`0x${'ab'.repeat(32)}`)
})
it.each([
  ...['', '0x', `0x${'a'.repeat(63)}`, `0x${'a'.repeat(65)}`, `0X${'a'.repeat(64)}`],
  'a'.repeat(64),
  `0x${'g'.repeat(64)}`,
  `0x${'a'.repeat(64)}\n`,
])('parseTxHash rejects %j with ERR_TX_HASH_INVALID', (text) => {
  expect(() => parseTxHash(text)).toThrow(expect.objectContaining({ code: 'ERR_TX_HASH_INVALID' }))
})

it('parseAddress lowercases an address of any case', () => {
  expect(parseAddress(`0x${'Ab'.repeat(20)}`)).toBe(`0x${'ab'.repeat(20)}`)
})
it.each(['', '0x', `0x${'a'.repeat(39)}`, `0x${'a'.repeat(41)}`, `0x${'a'.repeat(64)}`, `0x${'а'.repeat(40)}`])(
  'parseAddress rejects %j with ERR_ADDRESS_INVALID',
  (text) => {
    expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: 'ERR_ADDRESS_INVALID' }))
  },
)
