import type { PaymentFacts, PricingFacts } from '@payment-integration/core/ports'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import * as rows from './payment-row.js'

const { facts, hash } = fixtures
const { insertColumns, toInsertValues, packInvoice, packPricing, packRecipient, unpackPricing } = rows

function getNulls(changes: Partial<PaymentFacts>): string[] {
  const values = toInsertValues(facts(changes), true)
  return insertColumns.flatMap(({ name }, index) => (values[index] === null ? [name] : []))
}

const own = { chainId: 1, txHash: hash(1) }
const { tokenIn, tokenOut } = facts()
const unknown: PricingFacts = { listedToken: null, feeds: [], calledAmount: null, serviceFee: null }

test('a source that is the payment itself is stored as null', () => {
  expect(getNulls({ ...own, source: own })).toEqual(['source_chain_id', 'source_tx_hash'])
  expect(getNulls({ ...own, source: { ...own, chainId: 10 } })).toEqual([])
  expect(getNulls({ ...own, source: { ...own, txHash: hash(2) } })).toEqual([])
})

test('a token that is paid in and out is stored once', () => {
  const { address, symbol, decimals } = tokenIn
  const columns = ['token_out_address', 'token_out_symbol', 'token_out_decimals']
  expect(getNulls({ tokenOut: { ...tokenOut, address, symbol, decimals } })).toEqual(columns)
  expect(getNulls({ tokenOut: { ...tokenOut, address, symbol } })).toEqual([])
})

test('prices of which nothing is known are stored as null', () => {
  expect(packPricing(unknown)).toBeNull()
  expect(unpackPricing(null)).toEqual(unknown)
  expect(getNulls({ pricing: unknown })).toEqual(['pricing'])
})

test('equal prices have equal text, in any order of their fields', () => {
  const pricing: PricingFacts = {
    listedToken: { symbol: 'USDC', currency: 'USD' },
    feeds: [
      { use: 'divide', contract: '0xfe', pair: { base: 'EUR', quote: 'USD' }, rate: 2n ** 200n, decimals: 8 },
      { use: 'multiply', contract: null, pair: null, rate: 1n, decimals: 0 },
    ],
    calledAmount: 2n ** 64n,
    serviceFee: 0n,
  }
  const reversed = <Value extends object>(value: Value) =>
    Object.fromEntries(Object.entries(value).reverse()) as unknown as Value
  const feeds = pricing.feeds.map((feed) => reversed({ ...feed, pair: feed.pair && reversed(feed.pair) }))
  const text = packPricing(pricing)
  expect(packPricing(reversed({ ...pricing, feeds }))).toBe(text)
  expect(unpackPricing(text)).toEqual(pricing)
})

const invoice = { amount: '12.50', currency: 'CHF', settlementAmount: '14.02', settlementCurrency: 'USD' }

test('a recipient and an invoice are stored without the names of their fields', () => {
  expect(packRecipient({ title: 'Kiosk', subtitle: null })).toBe('["Kiosk",null]')
  expect(packInvoice(invoice)).toBe('["12.50","CHF","14.02","USD"]')
  expect([packRecipient(null), packInvoice(null)]).toEqual([null, null])
})
