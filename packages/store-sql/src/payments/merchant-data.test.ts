import { expect, test } from 'vitest'
import { formatInvoicePrefix, packInvoice, packRecipient, unpackInvoice, unpackRecipient } from './payment-row.js'

const invoice = { amount: '12.50', currency: 'CHF', settlementAmount: '14.02', settlementCurrency: 'USD' }

test('a recipient and an invoice are stored without the names of their fields', () => {
  expect(packRecipient({ title: 'Kiosk', subtitle: null })).toBe('["Kiosk",null]')
  expect(packInvoice(invoice)).toBe('["12.50","CHF","14.02","USD"]')
  expect([packRecipient(null), packInvoice(null)]).toEqual([null, null])
})

test('they are read as they were given', () => {
  for (const recipient of [{ title: '\u0000"\ud800', subtitle: null }, { title: '', subtitle: ',' }, null])
    expect(unpackRecipient(packRecipient(recipient))).toStrictEqual(recipient)
  for (const given of [invoice, null]) expect(unpackInvoice(packInvoice(given))).toStrictEqual(given)
})

test('a stored invoice begins with its amount and currency', () => {
  expect(formatInvoicePrefix('12.50')).toBe('["12.50",')
  expect(formatInvoicePrefix('12.50', 'CHF')).toBe('["12.50","CHF",')
})
