import type { VerifyRequest } from '@payment-integration/contract'
import { lookupWriteSchema, verifyWriteSchema } from '@payment-integration/contract/internal'
import { describe, expect, it } from 'vitest'
import {
  address,
  amount,
  currency,
  elsewhere,
  link,
  paid,
  receiver,
  setup,
  txHash,
  usdc,
} from '../../test/support/legacy-setup.js'
import { hashOf, plainPricing } from '../../test/support/stored-payment.js'
import type { StoredPayment } from '../payments/payment.js'

describe('a look-up', () => {
  it('shows every payment of the transaction in order, with facts of the chain alone', async () => {
    const second = paid({
      ordinal: 1,
      primary: false,
      memoHex: hashOf(''),
      tokenOut: { address: usdc, symbol: null, decimals: 18, gross: 5n, net: 5n },
      pricing: { ...plainPricing, listedToken: null },
    })
    const first = paid({ state: 'refund_success', recipient: { title: 'Secret', subtitle: null }, version: 4 })
    const { queries } = setup([second, first])
    const answer = await queries.lookup({ chainId: '137', txHash: txHash.toUpperCase().replace('0X', '0x') })
    expect(lookupWriteSchema.parse(answer)).toEqual({
      chainId: 137,
      txHash,
      payments: [
        {
          memo: 'order-7',
          receiver: receiver.toLowerCase(),
          tokenSymbol: 'USDC',
          tokenAmount: { formatted: '10', value: '10000000' },
          tokenAmountNet: { formatted: '9.955', value: '9955000' },
          totalFees: { formatted: '0.045', value: '45000' },
          fees: [
            { type: 'ServiceFee', formatted: '0.02', value: '20000' },
            { type: 'ExtraFee', formatted: '0.025', value: '25000' },
          ],
          invoiceAmount: '10',
          invoiceCurrency: 'USD',
          conversion: '',
          priceFeeds: [],
          final: false,
        },
        {
          memo: '',
          receiver: receiver.toLowerCase(),
          tokenSymbol: '',
          tokenAmount: { formatted: '0.000000000000000005', value: '5' },
          tokenAmountNet: { formatted: '0.000000000000000005', value: '5' },
          totalFees: { formatted: '0', value: '0' },
          fees: [],
          invoiceAmount: '',
          invoiceCurrency: '',
          conversion: '',
          priceFeeds: [],
          final: false,
        },
      ],
    })
  })

  it('lists price feeds in order of use, with their rates', async () => {
    const feed = (given: object) => ({
      use: 'multiply' as const,
      contract: elsewhere,
      pair: null,
      rate: 1n,
      decimals: 0,
      ...given,
    })
    const feeds = [
      feed({ contract: null, pair: { base: 'THB', quote: 'USD' }, rate: 27_500_000_000_000_000n, decimals: 18 }),
      feed({ use: 'divide', pair: { base: 'USDC', quote: 'USD' }, rate: 99_990_000n, decimals: 8 }),
    ]
    const show = async (payment: StoredPayment) =>
      (await setup([payment]).queries.lookup({ chainId: '137', txHash })).payments[0]
    expect(await show(paid({ pricing: { ...plainPricing, feeds, calledAmount: 363_600_000n } }))).toMatchObject({
      invoiceAmount: '363.6',
      invoiceCurrency: 'THB',
      conversion: 'external:THBUSDC',
      priceFeeds: [
        { name: 'THBUSD', contract: '', rate: '0.0275' },
        { name: 'USDCUSD', contract: elsewhere, rate: '0.9999' },
      ],
    })
    expect(await show(paid({ pricing: { ...plainPricing, feeds: [feed({})] } }))).toMatchObject({
      invoiceAmount: '',
      invoiceCurrency: '',
      conversion: '',
      priceFeeds: [{ name: '', contract: elsewhere, rate: '1' }],
    })
  })
})

describe('verify', () => {
  it('answers the look-up with a verdict on each payment', async () => {
    const { queries, request } = setup([paid()])
    const lookup = await queries.lookup({ chainId: '137', txHash })
    const { verified, result } = await queries.verify(request)
    expect(verified).toBe(true)
    expect(verifyWriteSchema.parse(result)).toEqual({
      ...lookup,
      payments: lookup.payments.map((payment) => ({ ...payment, verified: true, verificationErrors: [] })),
    })
  })

  it.each<[string, Partial<VerifyRequest>, string[]]>([
    ['another address', { address: elsewhere }, [address]],
    ['another currency', { invoiceCurrency: 'EUR' }, [currency]],
    ['another amount', { invoiceAmount: '10.000001' }, [amount]],
    ['an amount that is the same as a double', { invoiceAmount: '10.0000000000000001' }, [amount]],
    ['the net amount', { invoiceAmount: '9.955' }, [amount]],
    [
      'nothing that fits',
      { address: elsewhere, invoiceCurrency: 'EUR', invoiceAmount: 1 },
      [address, currency, amount],
    ],
    ['an unknown handle', { address: 'nobody' }, [address]],
    ['what can be neither address nor handle', { address: '\u212a%2e' }, [address]],
    ['an address with 0X, which is no handle', { address: receiver.replace('0x', '0X') }, [address]],
    [
      'an unknown handle and nothing that fits',
      { address: 'nobody', invoiceCurrency: 'EUR', invoiceAmount: 1 },
      [address, currency, amount],
    ],
    ['the same amount in another spelling', { invoiceAmount: '10.000' }, []],
    ['the amount as number', { invoiceAmount: 10 }, []],
    ['the address in another case', { address: receiver.toLowerCase() }, []],
  ])('judges %s', async (_what, change, errors) => {
    expect(await setup([paid()]).getErrors(change)).toEqual([errors])
  })

  it('never matches a token that only calls itself USDC, nor one with a feed of its own', async () => {
    const fake = { ...plainPricing, listedToken: null }
    const feed = {
      use: 'multiply' as const,
      contract: elsewhere,
      pair: { base: 'CHF', quote: 'USD' },
      rate: 1n,
      decimals: 0,
    }
    expect(await setup([paid({ pricing: fake })]).getErrors()).toEqual([[link, currency, amount]])
    const priced = setup([paid({ pricing: { ...fake, feeds: [feed], calledAmount: 10_000_000n } })])
    expect(await priced.getErrors({ invoiceCurrency: 'CHF' })).toEqual([[link, currency, amount]])
    const unlisted = setup([
      paid({ pricing: { ...plainPricing, feeds: [{ ...feed, pair: null }], calledAmount: 10_000_000n } }),
    ])
    expect(await unlisted.getErrors()).toEqual([[currency, amount]])
  })
})
