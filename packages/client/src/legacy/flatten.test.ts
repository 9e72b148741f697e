import { expect, test } from 'vitest'
import { lookup, receiver, txHash } from '../../test/legacy-fixtures.js'
import { flattenLookup } from './client.js'

const feed = '0x3333333333333333333333333333333333333333'

test('a payment becomes the flat shape, field by field', () => {
  const [flat, ...others] = flattenLookup(lookup())
  expect(others).toEqual([])
  expect(flat).toEqual({
    chainId: 137,
    txHash,
    memo: 'order-7',
    receiver,
    tokenSymbol: 'USDC',
    tokenAmountGross: '1.13',
    tokenAmountNet: '1.1255',
    tokenAmountGrossNative: '1130000',
    tokenAmountNetNative: '1125500',
    serviceFee: '0.00226',
    invoiceAmount: '1',
    invoiceCurrency: 'CHF',
    conversion: 'chainlink:CHFUSD',
    priceFeeds: feed,
  })
})

test('every payment has an entry, in the order of the answer', () => {
  const memos = ['a', 'b', 'c']
  expect(flattenLookup(lookup(...memos.map((memo) => ({ memo })))).map(({ memo }) => memo)).toEqual(memos)
  expect(flattenLookup({ ...lookup(), payments: [] })).toEqual([])
})

test('without a service fee the fee is 0, even when others charged a fee', () => {
  const extra = { type: 'ExtraFee', formatted: '0.5', value: '500000' }
  expect(flattenLookup(lookup({ fees: [] }, { fees: [extra] })).map(({ serviceFee }) => serviceFee)).toEqual(['0', '0'])
})

test.each([
  [['0.1', '0.2'], '0.3'],
  [['9007199254740993', '0.000000000000000001'], '9007199254740993.000000000000000001'],
  [['0.05', '0.95', '1'], '2'],
  [['100', '200'], '300'],
  [['0', '0.0'], '0'],
  [['0.00226'], '0.00226'],
  [['1.50'], '1.50'],
])('service fees %j give the fee %s: their exact sum, and a single one unchanged', (formatted, expected) => {
  const fees = formatted.map((each) => ({ type: 'ServiceFee', formatted: each, value: '1' }))
  const other = { type: 'ExtraFee', formatted: '5', value: '1' }
  expect(flattenLookup(lookup({ fees: [other, ...fees, other] }))[0]?.serviceFee).toBe(expected)
})

test('several service fees without a sum are rejected', () => {
  const fees = ['1', '1,5'].map((formatted) => ({ type: 'ServiceFee', formatted, value: '1' }))
  expect(() => flattenLookup(lookup({ fees }))).toThrow(
    new TypeError('A ServiceFee of the answer is no plain decimal; read fees of the look-up instead.'),
  )
})

test('price feeds are their contracts in the order of use; a rate without a contract gives an empty entry', () => {
  const used = (contract: string) => ({ name: 'CHFUSD', contract, rate: '1.13' })
  const other = '0x4444444444444444444444444444444444444444'
  const flat = flattenLookup(
    lookup({ priceFeeds: [] }, { priceFeeds: [used(other), used(feed)] }, { priceFeeds: [used(''), used(feed)] }),
  )
  expect(flat.map(({ priceFeeds }) => priceFeeds)).toEqual(['', `${other},${feed}`, `,${feed}`])
})
