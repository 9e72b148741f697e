/** The notification payload: a full snapshot of a payment. Source: docs/interface.md 2.1, 2.3. @module */
import * as z from 'zod/mini'
import { buildStateSchema } from './payment-state.js'
import { amount, chainId, currency, lowercaseAddress, type Mode, object, txHash, version } from './primitives.js'

const recipientShape = { title: z.string(), subtitle: z.nullable(z.string()) }
const invoiceShape = { amount, currency, settlementAmount: amount, settlementCurrency: currency }

/** The seven fields that a payment and its notification share, in the given mode. */
export function buildSnapshotShape<M extends Mode>(mode: M) {
  return {
    integrationAddress: lowercaseAddress,
    chainId,
    txHash,
    version,
    state: z.nullable(buildStateSchema(mode)),
    recipient: z.nullable(object(mode, recipientShape)),
    invoice: z.nullable(object(mode, invoiceShape)),
  }
}

/** The merchant, open to unknown fields. Source: docs/interface.md 2.1 `recipient`. */
export const recipientSchema = /* @__PURE__ */ object('read', recipientShape)
export const recipientWriteSchema = /* @__PURE__ */ object('write', recipientShape)
/** The invoice with its four fields, open to unknown fields. Source: docs/interface.md 2.1 `invoice`. */
export const invoiceSchema = /* @__PURE__ */ object('read', invoiceShape)
export const invoiceWriteSchema = /* @__PURE__ */ object('write', invoiceShape)
/**
 * A snapshot as a receiver reads it: accepts unknown fields and states.
 * @example
 * import { snapshotSchema } from '@payment-integration/contract'
 * const parsed = snapshotSchema.safeParse(JSON.parse('{"version":1}'))
 * if (!parsed.success) console.error(parsed.error.issues.map(({ path }) => path.join('.')))
 */
export const snapshotSchema = /* @__PURE__ */ object('read', /* @__PURE__ */ buildSnapshotShape('read'))
export const snapshotWriteSchema = /* @__PURE__ */ object('write', /* @__PURE__ */ buildSnapshotShape('write'))

/** The merchant of a payment: title, and a subtitle or null. */
export type RecipientBody = z.infer<typeof recipientSchema>
/** The invoice of a payment: all four fields, or the whole object is null. */
export type InvoiceBody = z.infer<typeof invoiceSchema>
/** A payment snapshot: the body of a notification, as the service writes it. */
export type SnapshotBody = z.infer<typeof snapshotWriteSchema>
/** A snapshot of a possibly newer service: unknown fields and states stay. */
export type OpenSnapshot = z.infer<typeof snapshotSchema>
