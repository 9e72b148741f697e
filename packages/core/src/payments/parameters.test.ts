import { describe, expect, it } from 'vitest'
import { parseAddress, parseTxHash } from './read-api.js'

describe('parseTxHash', () => {
  it('lowercases a hash of any case', () => {
    expect(parseTxHash(`0x${'Ab'.repeat(32)}`)).toBe(`0x${'ab'.repeat(32)}`)
  })
  it.each([
    ...['', '0x', `0x${'a'.repeat(63)}`, `0x${'a'.repeat(65)}`, `0X${'a'.repeat(64)}`],
    'a'.repeat(64),
    `0x${'g'.repeat(64)}`,
    `0x${'a'.repeat(64)}\n`,
  ])('rejects %j with ERR_TX_HASH_INVALID', (text) => {
    expect(() => parseTxHash(text)).toThrow(expect.objectContaining({ code: 'ERR_TX_HASH_INVALID' }))
  })
})

describe('parseAddress', () => {
  it('lowercases an address of any case', () => {
    expect(parseAddress(`0x${'Ab'.repeat(20)}`)).toBe(`0x${'ab'.repeat(20)}`)
  })
  it.each(['', '0x', `0x${'a'.repeat(39)}`, `0x${'a'.repeat(41)}`, `0x${'a'.repeat(64)}`, `0x${'а'.repeat(40)}`])(
    'refuses %j with ERR_ADDRESS_INVALID',
    (text) => {
      expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: 'ERR_ADDRESS_INVALID' }))
    },
  )
})
