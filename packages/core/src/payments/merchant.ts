/** Copies merchant data, field by field. Source: docs/interface.md 2.3 `recipient`, `invoice`. @module */
import type { InvoiceBody, RecipientBody } from '@payment-integration/contract'

/**
 * A copy with the contract's fields in their order. Equal data is equal as text; no unknown field reaches a snapshot.
 */
export function copyRecipient(recipient: RecipientBody | null): RecipientBody | null {
  return recipient && { title: recipient.title, subtitle: recipient.subtitle }
}

/** A copy with the contract's four fields in their order. */
export function copyInvoice(invoice: InvoiceBody | null): InvoiceBody | null {
  return (
    invoice && {
      amount: invoice.amount,
      currency: invoice.currency,
      settlementAmount: invoice.settlementAmount,
      settlementCurrency: invoice.settlementCurrency,
    }
  )
}
