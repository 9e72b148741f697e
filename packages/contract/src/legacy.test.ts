import { describe, expect, it } from 'vitest'
import { lookupSchema, lookupWriteSchema, verifyWriteSchema } from './legacy.js'
import { flatTransactionSchema, linkConfigSchema } from './legacy-snapshot.js'

const units = { formatted: '1.00', value: '1000000' }
const item = {
  memo: 'order-7',
  receiver: '0xabc',
  tokenSymbol: 'USDC',
  tokenAmount: units,
  tokenAmountNet: units,
  totalFees: units,
  fees: [{ type: 'ServiceFee', ...units }],
  invoiceAmount: '1.00',
  invoiceCurrency: 'USD',
  conversion: '',
  priceFeeds: [{ name: 'ETHUSD', contract: '0xdef', rate: '3000.1' }],
}
const lookup = { chainId: 137, txHash: '0x1', payments: [{ ...item, final: true }] }

describe('the legacy lookup (INTERFACE 2.4)', () => {
  it('has a number as chainId and several payments', () => {
    const two = { ...lookup, payments: [...lookup.payments, { ...item, final: false }] }
    expect(lookupWriteSchema.parse(two)).toEqual(two)
    expect(lookupWriteSchema.safeParse({ ...lookup, chainId: '137' }).success).toBe(false)
  })

  it('may have no fees and no price feeds', () => {
    expect(
      lookupSchema.safeParse({ ...lookup, payments: [{ ...item, fees: [], priceFeeds: [], final: true }] }).success,
    ).toBe(true)
  })

  it('has base units as an integer string', () => {
    const bad = { ...item, final: true, totalFees: { formatted: '1', value: '1.5' } }
    expect(lookupSchema.safeParse({ ...lookup, payments: [bad] }).success).toBe(false)
  })

  it('is closed when writing', () => {
    expect(
      lookupWriteSchema.safeParse({ ...lookup, payments: [{ ...item, final: true, state: 'success' }] }).success,
    ).toBe(false)
  })
})

describe('the verify answer (INTERFACE 4.3)', () => {
  it('adds a verdict with the fixed texts', () => {
    const judged = (verificationErrors: string[]) => ({
      ...lookup,
      payments: [{ ...item, verified: false, verificationErrors }],
    })
    expect(verifyWriteSchema.safeParse(judged(['Invalid payment amount'])).success).toBe(true)
    expect(verifyWriteSchema.safeParse(judged(['Wrong amount'])).success).toBe(false)
  })
})

describe('the legacy type snapshot', () => {
  it('is flat, with strings but for chainId', () => {
    const flat = Object.fromEntries(
      Object.keys(flatTransactionSchema.shape).map((field) => [field, field === 'chainId' ? 1 : 'x']),
    )
    expect(flatTransactionSchema.safeParse(flat).success).toBe(true)
    expect(Object.keys(flat)).toEqual([
      'chainId',
      'txHash',
      'memo',
      'receiver',
      'tokenSymbol',
      'tokenAmountGross',
      'tokenAmountNet',
      'tokenAmountGrossNative',
      'tokenAmountNetNative',
      'serviceFee',
      'invoiceAmount',
      'invoiceCurrency',
      'conversion',
      'priceFeeds',
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
