/** Packs the recipient and the invoice of a payment: arrays without names. Source: docs/interface.md 2.1. @module */
import type { InvoiceBody, RecipientBody } from '@payment-integration/contract'
import { pack, unpack } from '../internal/values.js'

// An update is rejected if it has other fields than these.
type RecipientText = readonly [title: string, subtitle: string | null]
type InvoiceText = readonly [amount: string, currency: string, settlementAmount: string, settlementCurrency: string]

/** A recipient as a JSON array, such as `["Kiosk","Counter 3"]`. */
export function packRecipient(recipient: RecipientBody | null): string | null {
  const text: RecipientText | null = recipient && [recipient.title, recipient.subtitle]
  return pack(text)
}

/** The recipient of such a text. */
export function unpackRecipient(text: string | null): RecipientBody | null {
  const values = unpack<RecipientText>(text)
  return values && { title: values[0], subtitle: values[1] }
}

/** An invoice as a JSON array, such as `["12.50","CHF","14.02","USD"]`. */
export function packInvoice(invoice: InvoiceBody | null): string | null {
  if (invoice === null) return null
  const { amount, currency, settlementAmount, settlementCurrency } = invoice
  const text: InvoiceText = [amount, currency, settlementAmount, settlementCurrency]
  return pack(text)
}

/** The invoice of such a text. */
export function unpackInvoice(text: string | null): InvoiceBody | null {
  const values = unpack<InvoiceText>(text)
  if (values === null) return null
  const [amount, currency, settlementAmount, settlementCurrency] = values
  return { amount, currency, settlementAmount, settlementCurrency }
}

/** The text that every packed invoice of an amount, and of a currency if given, begins with, and no other does. */
export const invoicePrefix = (amount: string, currency?: string): string =>
  `${JSON.stringify(currency === undefined ? [amount] : [amount, currency]).slice(0, -1)},`
