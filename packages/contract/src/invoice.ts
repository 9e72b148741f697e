/** The invoice of a payment, all or nothing: four fields, or null. Source: docs/interface.md 2.1 `invoice`. @module */
import * as z from 'zod/mini'
import { amount, currency, type Mode, object } from './primitives.js'

const invoiceShape = { amount, currency, settlementAmount: amount, settlementCurrency: currency }

/** The invoice with its four fields, open to unknown fields. Source: docs/interface.md 2.1 `invoice`. */
export const invoiceSchema = /* @__PURE__ */ object('read', invoiceShape)
/** The invoice as the service writes it: rejects unknown fields. */
export const invoiceWriteSchema = /* @__PURE__ */ object('write', invoiceShape)

/** The schema of a payment's invoice in the given mode: an invoice with a field missing or null is rejected. */
export function buildNullableInvoiceSchema<M extends Mode>(mode: M) {
  return z.nullable(object(mode, invoiceShape))
}

/** The invoice of a payment: all four fields, or the whole object is null. */
export type InvoiceBody = z.infer<typeof invoiceSchema>
