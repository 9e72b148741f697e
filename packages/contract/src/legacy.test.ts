import { describe, expect, it } from 'vitest'
import { account, legacyItem as item } from '../test/samples.js'
import { lookupSchema, lookupWriteSchema, verifyResponseWriteSchema } from './legacy.js'
import { accountSchema, flatTransactionSchema, linkConfigSchema, linkConfigWriteSchema } from './legacy-snapshot.js'

const lookup = { chainId: 137, txHash: '0x1', payments: [{ ...item, final: true }] }

describe('the legacy lookup (interface 2.4)', () => {
  it('has a number as chainId and several payments', () => {
    const two = { ...lookup, payments: [...lookup.payments, { ...item, final: false }] }
    expect(lookupWriteSchema.parse(two)).toEqual(two)
    expect(lookupWriteSchema.safeParse({ ...lookup, chainId: '137' }).success).toBe(false)
  })

  it('may have no fees and no price feeds', () => {
    const bare = { ...lookup, payments: [{ ...item, fees: [], priceFeeds: [], final: true }] }
    expect(lookupSchema.safeParse(bare).success).toBe(true)
  })

  it('has base units as an integer string', () => {
    const bad = { ...item, final: true, totalFees: { formatted: '1', value: '1.5' } }
    expect(lookupSchema.safeParse({ ...lookup, payments: [bad] }).success).toBe(false)
  })

  it('is closed when writing', () => {
    const leaky = { ...lookup, payments: [{ ...item, final: true, state: 'success' }] }
    expect(lookupWriteSchema.safeParse(leaky).success).toBe(false)
  })
})

describe('the reading schemas', () => {
  it('accept an unknown fee type, more fields, two spellings of a decimal, and a hash of another length', () => {
    const payment = {
      ...{ ...item, tokenAmountNet: { formatted: '0.9975', value: '997500' }, conversion: 'chainlink:CHFUSD' },
      ...{ fees: [{ type: 'YodlFee', formatted: '0.002', value: '2000' }], blockNumber: 54_321_000, final: true },
    }
    const older = { chainId: 137, txHash: `0x${'a'.repeat(62)}`, payments: [payment] }
    expect(lookupSchema.parse(older)).toEqual(older)
  })

  it.each([
    { type: 'NOTHING', payload: null },
    { type: 'REDIRECT', text: 'Back', payload: { url: 'shop.example', excludeParams: true } },
    { type: 'CLOSE_WINDOW', text: 'Bye', payload: { delayMilliseconds: 1.5 } },
  ])('accept a link configuration with %j, which the writing schema rejects', (onCompleteAction) => {
    const config = { coins: [], onCompleteAction }
    expect(linkConfigSchema.parse(config)).toEqual(config)
    expect(linkConfigWriteSchema.safeParse(config).success).toBe(false)
  })
})

it('the verify answer (interface 4.3) adds a verdict with the fixed texts', () => {
  const isWritten = (error: string) => {
    const payments = [{ ...item, verified: false, verificationErrors: [error] }]
    return verifyResponseWriteSchema.safeParse({ ...lookup, payments }).success
  }
  expect([isWritten('Invalid payment amount'), isWritten('Wrong amount')]).toEqual([true, false])
})

describe('the legacy type snapshot', () => {
  it('is flat, with strings but for chainId', () => {
    const flat = Object.fromEntries(
      Object.keys(flatTransactionSchema.shape).map((field) => [field, field === 'chainId' ? 1 : 'x']),
    )
    expect(flatTransactionSchema.safeParse(flat).success).toBe(true)
    expect(Object.keys(flat)).toEqual([
      ...['chainId', 'txHash', 'memo', 'receiver', 'tokenSymbol', 'tokenAmountGross', 'tokenAmountNet'],
      ...['tokenAmountGrossNative', 'tokenAmountNetNative', 'serviceFee', 'invoiceAmount', 'invoiceCurrency'],
      ...['conversion', 'priceFeeds'],
    ])
  })

  it.each([
    [{ type: 'NOTHING' }, true],
    [{ type: 'REDIRECT', payload: { url: 'https://shop.example' } }, true],
    [{ type: 'CLOSE_WINDOW', payload: { delayMilliseconds: 5 } }, true],
    [{ type: 'REDIRECT' }, false],
    [{ type: 'EXPLODE' }, false],
  ])('link configuration with %j: %s', (onCompleteAction, valid) => {
    const coins = [{ chainId: 1, tokens: [{ symbol: 'USDC' }, { symbol: 'DAI', address: '0x1' }] }]
    expect(linkConfigSchema.safeParse({ coins, onCompleteAction }).success).toBe(valid)
  })
})

describe('the accounts response (interface 2.4)', () => {
  it.each([
    ['the sample', {}],
    ['a link configuration without an action', { config: { coins: [] } }],
    ['a field of a newer service', { createdAt: '2026-01-02T03:04:05.000Z' }],
  ])('reads %s', (_what, change) => {
    expect(accountSchema.parse({ ...account, ...change })).toEqual({ ...account, ...change })
  })

  it.each(['address', 'config', 'handle'])('needs the field %s', (field) => {
    expect(accountSchema.safeParse({ ...account, [field]: undefined }).success).toBe(false)
    expect(accountSchema.safeParse({ ...account, [field]: 7 }).success).toBe(false)
  })

  it.each([
    ['coins that are missing', {}],
    ['a chain id that is text', { coins: [{ chainId: '1', tokens: [] }] }],
    ['a default address that is no text', { coins: [{ chainId: 1, tokens: [], defaultAddress: null }] }],
    ['tokens that are missing', { coins: [{ chainId: 1 }] }],
    ['a token without a symbol', { coins: [{ chainId: 1, tokens: [{ address: '0x1' }] }] }],
    ['a token address that is no text', { coins: [{ chainId: 1, tokens: [{ symbol: 'DAI', address: 1 }] }] }],
    ['an action without a delay', { coins: [], onCompleteAction: { type: 'CLOSE_WINDOW', payload: {} } }],
  ])('has no link configuration with %s', (_what, config) => {
    expect(accountSchema.safeParse({ ...account, config }).success).toBe(false)
  })
})
