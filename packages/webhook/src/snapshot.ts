/** Parses a notification's payload and checks each field. Source: docs/interface.md 2.3. @module */
import { createRejection } from './errors.js'

/** The payment states of docs/interface.md 3. */
export type SnapshotState = 'pending' | 'success' | 'failure' | 'refund_pending' | 'refund_success' | 'refund_failure'

/** The merchant of a payment. */
export interface SnapshotRecipient {
  readonly title: string
  readonly subtitle: string | null
}

/** The invoice of a payment. Amounts are decimal strings; never turn them into floating point. */
export interface SnapshotInvoice {
  readonly amount: string
  readonly currency: string
  readonly settlementAmount: string
  readonly settlementCurrency: string
}

/** A full picture of a payment, not a patch. Fields that this type does not name are passed through. */
export interface Snapshot {
  /** Lowercased. */
  readonly integrationAddress: string
  /** Destination chain, decimal string. */
  readonly chainId: string
  /** Destination transaction, lowercased. */
  readonly txHash: string
  /** 1, 2, 3, …: discard a snapshot whose version is not greater than the stored one. */
  readonly version: number
  /** null when none is stored yet. A state that a newer service invents passes as its own string. */
  readonly state: SnapshotState | (string & {}) | null
  /** null when no merchant name is known. */
  readonly recipient: SnapshotRecipient | null
  /** null unless all four of its fields are known. */
  readonly invoice: SnapshotInvoice | null
}

const amount = /^(0|[1-9]\d*)(\.\d+)?$/
const currency = /^[A-Z]{3}$/
const anyText = /^/
/** The form of an integration address. */
export const addressForm = /^0x[0-9a-f]{40}$/

/** The form of each field: a text, a version, or an object with fields of its own. */
interface Shape {
  readonly [field: string]: RegExp | 'version' | Shape
}
const snapshotShape: Shape = {
  integrationAddress: addressForm,
  chainId: /^[1-9]\d{0,14}$/,
  txHash: /^0x[0-9a-f]{64}$/,
  version: 'version',
  state: /./s,
  recipient: { title: anyText, subtitle: anyText },
  invoice: { amount, currency, settlementAmount: amount, settlementCurrency: currency },
}
/** The fields that may be null. */
const nullable = /^(state|recipient|subtitle|invoice)$/

/**
 * The exact text of a body; empty when the body is no UTF-8. A byte order mark stays, and JSON.parse rejects it:
 * JSON on the wire has none (RFC 8259, 8.1).
 */
export function decodeText(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    return ''
  }
}

/**
 * Reads a snapshot out of the text of a verified body. Every field must be there, null only where null is allowed.
 * @throws {@link WebhookError} `ERR_SNAPSHOT_INVALID` with the field that is wrong; never its value.
 */
export function parseSnapshot(text: string): Snapshot {
  const snapshot = parseJson(text)
  const field = isRecord(snapshot) ? findWrongField(snapshot, snapshotShape) : ''
  if (field === undefined) return snapshot as Snapshot
  throw createRejection('ERR_SNAPSHOT_INVALID', 400, { field })
}

/** `undefined` when the text is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the body.
    return undefined
  }
}

/** The path of the first wrong field, such as `invoice.amount`; `undefined` when all are right. */
function findWrongField(record: Record<string, unknown>, shape: Shape): string | undefined {
  for (const name in shape) {
    const value = record[name]
    const form = shape[name]
    if (value === null && nullable.test(name)) continue
    if (form instanceof RegExp) {
      if (typeof value !== 'string' || !form.test(value)) return name
    } else if (form === 'version') {
      if (!Number.isSafeInteger(value) || (value as number) < 1) return name
    } else {
      const inner = isRecord(value) ? findWrongField(value, form as Shape) : ''
      if (inner !== undefined) return inner ? `${name}.${inner}` : name
    }
  }
  return undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
