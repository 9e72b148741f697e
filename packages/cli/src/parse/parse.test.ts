import { InvalidArgumentError } from 'commander'
import { describe, expect, it } from 'vitest'
import { parseAcceptedTokens } from './accepted-tokens.js'
import { parseAddress } from './address.js'
import { parseChainAddress } from './chain-address.js'
import { parseDuration } from './duration.js'
import { parseNotificationUrl, parseOptionalUrl } from './notification-url.js'
import { wholeNumber } from './whole-number.js'

describe('parseDuration', () => {
  it.each([
    ['0s', 0],
    ['500ms', 500],
    ['3s', 3_000],
    ['10m', 600_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['2147483647ms', undefined],
    ['24d', 2_073_600_000],
  ])('reads %s', (text, ms) => {
    if (ms === undefined) expect(() => parseDuration(text)).toThrow(InvalidArgumentError)
    else expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    '',
    '3',
    's',
    '3 s',
    '-3s',
    '+3s',
    '1.5s',
    '1e3ms',
    '3S',
    '3sec',
    '25d',
    '999999999d',
    '3s\n',
    '٣s',
    '0x3s',
  ])('refuses %j', (text) => expect(() => parseDuration(text)).toThrow(InvalidArgumentError))
})

describe('wholeNumber', () => {
  const port = wholeNumber(0, 65_535)
  it.each([
    ['0', 0],
    ['65535', 65_535],
    ['08', 8],
  ])('reads %s', (text, value) => expect(port(text)).toBe(value))
  it.each(['', '-1', '65536', '1.5', '1e3', '0x10', ' 1', 'NaN', '99999999999999999'])('refuses %j', (text) =>
    expect(() => port(text)).toThrow('Expected a whole number from 0 to 65535.'),
  )
})

describe('parseAddress', () => {
  it('accepts any case and lowercases', () => {
    expect(parseAddress(`0x${'Ab'.repeat(20)}`)).toBe(`0x${'ab'.repeat(20)}`)
  })
  it.each([
    '',
    '0x',
    'ab'.repeat(20),
    `0x${'ab'.repeat(19)}`,
    `0x${'ab'.repeat(20)}0`,
    `0x${'zz'.repeat(20)}`,
    `0X${'ab'.repeat(20)}`,
  ])('refuses %j', (text) => expect(() => parseAddress(text)).toThrow(InvalidArgumentError))
})

describe('parseAcceptedTokens', () => {
  it.each([
    ['137:USDC', { chainId: 137, symbols: ['USDC'] }],
    ['42161:USDC,USDC.e,USD₮0', { chainId: 42_161, symbols: ['USDC', 'USDC.e', 'USD₮0'] }],
    ['999999999999999:x', { chainId: 999_999_999_999_999, symbols: ['x'] }],
  ])('reads %s', (text, coin) => expect(parseAcceptedTokens(text)).toEqual([coin]))

  it('adds to what was given before', () => {
    const before = [{ chainId: 1, symbols: ['ETH'] }]
    expect(parseAcceptedTokens('137:USDC', before)).toEqual([...before, { chainId: 137, symbols: ['USDC'] }])
  })

  it.each([
    ...['', 'USDC', ':', ':USDC', '137', '137:', '137:,', '137:USDC,', '137:,USDC', '137:US DC', '137: USDC'],
    ...['0:USDC', '0137:USDC', '-1:USDC', '1e3:USDC', '0x89:USDC', '1.5:USDC', '١:USDC', '1000000000000000:USDC'],
    ...['137:USDC:USDT', '137:USDC,USDC', '137:USDC\n', ' 137:USDC'],
  ])('refuses %j', (text) => expect(() => parseAcceptedTokens(text)).toThrow(InvalidArgumentError))
})

describe('parseChainAddress', () => {
  const address = `0x${'ab'.repeat(20)}`
  it('reads a chain and an address in any case, and adds to what was given before', () => {
    const before = [{ chainId: 1, address }]
    expect(parseChainAddress(`137:0x${'AB'.repeat(20)}`, before)).toEqual([...before, { chainId: 137, address }])
  })
  it.each(['', address, `:${address}`, `0:${address}`, `x:${address}`, '137:', '137:shop', `137:${address}0`])(
    'refuses %j',
    (text) => expect(() => parseChainAddress(text)).toThrow(InvalidArgumentError),
  )
})

describe('parseNotificationUrl', () => {
  it.each(['https://shop.example/webhook', 'http://127.0.0.1:9000/'])('accepts %s', (text) =>
    expect(parseNotificationUrl(text)).toBe(text),
  )
  it.each(['', 'shop.example', '/webhook', 'ftp://shop.example', 'javascript:alert(1)', 'none'])('refuses %j', (text) =>
    expect(() => parseNotificationUrl(text)).toThrow(InvalidArgumentError),
  )
  it('reads none as no notifications where that is possible', () => {
    expect(parseOptionalUrl('none')).toBeNull()
    expect(parseOptionalUrl('https://shop.example/')).toBe('https://shop.example/')
  })
})
