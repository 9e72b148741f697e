import { InvalidArgumentError } from 'commander'
import { describe, expect, it } from 'vitest'
import {
  momentParser,
  parseAcceptedTokens,
  parseActor,
  parseAddress,
  parseChainAddress,
  parseDeliveryId,
  parseDuration,
  parseExpectedRecord,
  wholeNumberParser,
} from './command.js'

describe('parseDuration', () => {
  it.each([
    ['0s', 0],
    ['500ms', 500],
    ['3s', 3_000],
    ['10m', 600_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['24d', 2_073_600_000],
  ])('parses %s', (text, ms) => expect(parseDuration(text)).toBe(ms))

  it.each([
    ...['', '3', 's', '3 s', '-3s', '+3s', '1.5s', '1e3ms', '3S', '3sec', '25d', '999999999d', '3s\n', '٣s', '0x3s'],
    '2147483647ms',
  ])('rejects %j', (text) => expect(() => parseDuration(text)).toThrow(InvalidArgumentError))
})

describe('momentParser', () => {
  const now = Date.UTC(2026, 2, 1, 12)
  const parse = momentParser({ now: () => now })
  it.each([
    ['2026-03-01', Date.UTC(2026, 2, 1)],
    ['2024-02-29', Date.UTC(2024, 1, 29)],
    ['2026-03-01T09:30Z', Date.UTC(2026, 2, 1, 9, 30)],
    ['2026-03-01T09:30:15Z', Date.UTC(2026, 2, 1, 9, 30, 15)],
    ['2026-03-01T09:30:15.250Z', Date.UTC(2026, 2, 1, 9, 30, 15, 250)],
    ['2026-03-01T00:30+01:00', Date.UTC(2026, 1, 28, 23, 30)],
    ['2026-02-28T23:30-05:30', Date.UTC(2026, 2, 1, 5)],
    ['1970-01-01', 0],
    ['0s', now],
    ['2h', now - 7_200_000],
    ['90d', now - 90 * 86_400_000],
    ['999999999d', 0],
  ])('parses %s', (text, at) => expect(parse(text)).toBe(at))

  it.each([
    ...['', 'yesterday', '2h ago', '-2h', '1.5h', '2026', '2026-03', '2026-3-1', '01.03.2026', '1772323200000'],
    ...['2026-03-01T09:30', '2026-03-01 09:30Z', '2026-03-01T09Z', '2026-03-01T09:30z', '2026-03-01T09:30+1'],
    ...['2026-02-29', '2026-02-30', '2026-04-31T10:00Z', '2026-13-01', '2026-03-01T25:00Z', '2026-03-01T09:60Z'],
    ...['2026-03-01\n', ' 2026-03-01', '1969-12-31', '+002026-03-01', '٢٠٢٦-03-01'],
  ])('rejects %j', (text) => expect(() => parse(text)).toThrow(InvalidArgumentError))
})

describe('wholeNumberParser', () => {
  const port = wholeNumberParser(0, 65_535)
  it.each([
    ['0', 0],
    ['65535', 65_535],
    ['08', 8],
  ])('parses %s', (text, value) => expect(port(text)).toBe(value))
  it.each(['', '-1', '65536', '1.5', '1e3', '0x10', ' 1', 'NaN', '99999999999999999'])('rejects %j', (text) =>
    expect(() => port(text)).toThrow('Expected a whole number from 0 to 65535.'),
  )
})

describe('parseAddress', () => {
  it('accepts any case and lowercases', () => {
    expect(parseAddress(`0x${'Ab'.repeat(20)}`)).toBe(`0x${'ab'.repeat(20)}`)
  })
  it.each([
    ...['', '0x', 'ab'.repeat(20), `0x${'ab'.repeat(19)}`],
    ...[`0x${'ab'.repeat(20)}0`, `0x${'zz'.repeat(20)}`, `0X${'ab'.repeat(20)}`],
  ])('rejects %j', (text) => expect(() => parseAddress(text)).toThrow(InvalidArgumentError))
})

describe('parseDeliveryId', () => {
  it.each(['1', '42', '999999999999999'])('accepts %j', (text) => expect(parseDeliveryId(text)).toBe(text))
  it.each(['', '0', '01', '-1', '1.5', '1e3', '0x1', ' 1', '1\n', 'abc', '١', '1000000000000000'])(
    'rejects %j',
    (text) => expect(() => parseDeliveryId(text)).toThrow(InvalidArgumentError),
  )
})

describe('parseActor', () => {
  it.each(['alice', 'Alice of Operations', 'ci:deploy/17', 'x'.repeat(100)])('accepts %j', (text) =>
    expect(parseActor(text)).toBe(text),
  )
  it.each(['', ' ', ' alice', 'alice ', 'a\nb', '\u001b[2J', 'a\u202Eb', 'x'.repeat(101)])('rejects %j', (text) =>
    expect(() => parseActor(text)).toThrow(InvalidArgumentError),
  )
})

describe('parseExpectedRecord', () => {
  const hash = '9f2c'.repeat(16)
  it('parses a number and a hash', () => expect(parseExpectedRecord(`12:${hash}`)).toEqual({ seq: 12, hash }))
  it.each([
    ...['', '12', hash, `0:${hash}`, `012:${hash}`, `-1:${hash}`],
    ...[`12:${hash.toUpperCase()}`, `12:${hash}0`, `12 ${hash}`],
  ])('rejects %j', (text) => expect(() => parseExpectedRecord(text)).toThrow(InvalidArgumentError))
})

describe('parseAcceptedTokens', () => {
  it.each([
    ['137:USDC', { chainId: 137, symbols: ['USDC'] }],
    ['42161:USDC,USDC.e,USD₮0', { chainId: 42_161, symbols: ['USDC', 'USDC.e', 'USD₮0'] }],
    ['999999999999999:x', { chainId: 999_999_999_999_999, symbols: ['x'] }],
  ])('parses %s', (text, coin) => expect(parseAcceptedTokens(text)).toEqual([coin]))

  it('appends to the values of earlier options', () => {
    const before = [{ chainId: 1, symbols: ['ETH'] }]
    expect(parseAcceptedTokens('137:USDC', before)).toEqual([...before, { chainId: 137, symbols: ['USDC'] }])
  })

  it.each([
    ...['', 'USDC', ':', ':USDC', '137', '137:', '137:,', '137:USDC,', '137:,USDC', '137:US DC', '137: USDC'],
    ...['0:USDC', '0137:USDC', '-1:USDC', '1e3:USDC', '0x89:USDC', '1.5:USDC', '١:USDC', '1000000000000000:USDC'],
    ...['137:USDC:USDT', '137:USDC,USDC', '137:USDC\n', ' 137:USDC'],
  ])('rejects %j', (text) => expect(() => parseAcceptedTokens(text)).toThrow(InvalidArgumentError))
})

describe('parseChainAddress', () => {
  const address = `0x${'ab'.repeat(20)}`
  it('reads a chain and an address in any case, and appends to the values of earlier options', () => {
    const before = [{ chainId: 1, address }]
    expect(parseChainAddress(`137:0x${'AB'.repeat(20)}`, before)).toEqual([...before, { chainId: 137, address }])
  })
  it.each(['', address, `:${address}`, `0:${address}`, `x:${address}`, '137:', '137:shop', `137:${address}0`])(
    'rejects %j',
    (text) => expect(() => parseChainAddress(text)).toThrow(InvalidArgumentError),
  )
})
