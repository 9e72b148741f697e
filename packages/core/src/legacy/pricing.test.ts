import { describe, expect, it } from 'vitest'
import { plainPricing, storedPayment } from '../../test/support/stored-payment.js'
import type { PriceFeedFacts, PricingFacts } from '../payments/payment.js'
import { deriveInvoice, formatConversion } from './pricing.js'

const contract = `0x${'fe'.repeat(20)}`
const feed = (use: PriceFeedFacts['use'], pair: string | null, rate: bigint, given: Partial<PriceFeedFacts> = {}) => {
  const [base = '', quote = ''] = pair?.split('/') ?? []
  return { use, contract, pair: pair === null ? null : { base, quote }, rate, decimals: 8, ...given }
}
const multiply = (pair: string | null, rate = 110_000_000n, given = {}) => feed('multiply', pair, rate, given)
const divide = (pair: string | null, rate = 110_000_000n, given = {}) => feed('divide', pair, rate, given)
const external = (pair: string | null) => multiply(pair, 11n * 10n ** 17n, { contract: null, decimals: 18 })

const zchf = { symbol: 'ZCHF', currency: 'CHF' }
const usdc = { symbol: 'USDC', currency: 'USD' }

function judge(pricing: Partial<PricingFacts>, gross = 1_100_000n) {
  const { tokenOut } = storedPayment({ id: 'p' })
  const all = { ...plainPricing, ...pricing }
  return {
    invoice: deriveInvoice({ tokenOut: { ...tokenOut, gross }, pricing: all }),
    conversion: formatConversion(all),
  }
}

describe('the invoice of a payment', () => {
  it.each<[string, Partial<PricingFacts>, string, string, string]>([
    ['without feeds is what was paid', {}, '1.1', 'USD', ''],
    ['through a multiplying feed is in its base', { feeds: [multiply('EUR/USD')] }, '1', 'EUR', 'chainlink:EURUSD'],
    [
      'through a feed that quotes the token by its symbol',
      { feeds: [multiply('ETH/USDC')] },
      '1',
      'ETH',
      'chainlink:ETHUSDC',
    ],
    [
      'through a dividing feed is in its quote',
      { feeds: [divide('CHF/USD')], listedToken: zchf },
      '1.21',
      'USD',
      'chainlink:USDCHF',
    ],
    [
      'through the inverse feed of the token itself',
      { feeds: [divide('USDC/USD', 100_011_000n)] },
      '1.100121',
      'USD',
      'chainlink:USDUSDC',
    ],
    [
      'through the inverse feed of the token itself, whose symbol has small letters',
      { feeds: [divide('CRVUSD/USD', 100_011_000n)], listedToken: { symbol: 'crvUSD', currency: 'USD' } },
      '1.100121',
      'USD',
      'chainlink:USDCRVUSD',
    ],
    [
      'through both feeds is in the base of the first',
      { feeds: [multiply('ETH/USD', 200_000_000n), divide('CHF/USD', 110_000_000n)], listedToken: zchf },
      '0.605',
      'ETH',
      'chainlink:ETHCHF',
    ],
    ['through a signed rate from outside', { feeds: [external('THB/USD')] }, '1', 'THB', 'external:THBUSD'],
    [
      'through a signed rate and a feed',
      { feeds: [external('THB/USD'), divide('CHF/USD')], listedToken: zchf },
      '1.1',
      'THB',
      'external:THBCHF',
    ],
    [
      'is what the call names when it does',
      { feeds: [multiply('EUR/USD')], calledAmount: 1_000_000n },
      '1',
      'EUR',
      'chainlink:EURUSD',
    ],
  ])('%s', (_what, pricing, amount, currency, conversion) => {
    expect(judge(pricing)).toEqual({ invoice: { amount, currency }, conversion })
  })

  it('is the amount that the call names, also where a rounder one gives the same', () => {
    const feeds = [multiply('EUR/USD')]
    expect(judge({ feeds, calledAmount: 999_999n }, 1_099_998n).invoice?.amount).toBe('0.999999')
    expect(
      judge({ feeds: [divide('CHF/USD', 99_999_999n)], listedToken: zchf, calledAmount: 1_100_001n }).invoice?.amount,
    ).toBe('1.100001')
  })

  it.each<[string, Partial<PricingFacts>]>([
    ['a token that is not listed', { listedToken: null }],
    ['a token that is not listed, with a listed feed', { listedToken: null, feeds: [multiply('CHF/USD')] }],
    ['an unlisted feed', { feeds: [multiply(null)] }],
    ['an unlisted second feed', { feeds: [multiply('EUR/USD'), divide(null)] }],
    ['an unlisted first feed', { feeds: [multiply(null), divide('CHF/USD')], listedToken: zchf }],
    ['a signed rate of an unknown currency', { feeds: [external(null)] }],
    ['a signed rate and an unlisted feed', { feeds: [external('THB/USD'), divide(null)] }],
    ['a feed into another currency than the token', { feeds: [multiply('EUR/USD')], listedToken: zchf }],
    ['a feed the wrong way round', { feeds: [multiply('USD/CHF')] }],
    ['a dividing feed of another currency', { feeds: [divide('EUR/USD')], listedToken: zchf }],
    ['a dividing feed that only quotes the token', { feeds: [divide('CHF/USD')] }],
    ['two feeds that do not meet', { feeds: [multiply('ETH/EUR'), divide('CHF/USD')], listedToken: zchf }],
    ['two feeds that end elsewhere', { feeds: [multiply('ETH/USD'), divide('EUR/USD')], listedToken: zchf }],
    ['two feeds that multiply', { feeds: [multiply('ETH/EUR'), multiply('EUR/USD')] }],
    ['two feeds that divide', { feeds: [divide('CHF/USD'), divide('USDC/USD')] }],
    ['feeds in the other order', { feeds: [divide('CHF/USD'), multiply('CHF/USD')] }],
    ['three feeds', { feeds: [multiply('EUR/USD'), divide('USDC/USD'), divide('USDC/USD')] }],
    ['a currency that verify refuses', { listedToken: { symbol: 'EURC.e', currency: 'EURC.e' } }],
    ['a feed of a currency that verify refuses', { feeds: [multiply('cbETH/USD')] }],
    [
      'a feed into a currency that verify refuses',
      { feeds: [multiply('EUR/USDC.e')], listedToken: { symbol: 'USDC.e', currency: 'USD' } },
    ],
  ])('is unknown, and so is the conversion, with %s', (_what, pricing) => {
    expect(judge(pricing)).toEqual({ invoice: null, conversion: '' })
    expect(judge({ ...pricing, calledAmount: 1n }).invoice).toBeNull()
  })

  it('is unknown when no amount converts to what was paid', () => {
    expect(judge({ feeds: [multiply('ETH/USD', 200_000_000_000n)] }, 2_001n).invoice).toBeNull()
    expect(judge({ feeds: [multiply('ETH/USD', 200_000_000_000n)] }, 2_000n).invoice).toEqual({
      amount: '0.000001',
      currency: 'ETH',
    })
  })

  it('is the roundest of the amounts that convert to what was paid', () => {
    // 10.04 USD at 1.00011 USD for a USDC is 10.038895 USDC, rounded down; 10.039999 to 10.040000 USD all give it.
    expect(judge({ feeds: [divide('USDC/USD', 100_011_000n)], listedToken: usdc }, 10_038_895n).invoice?.amount).toBe(
      '10.04',
    )
  })
})
