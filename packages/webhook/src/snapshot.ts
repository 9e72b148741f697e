/** The payload of a notification, checked field by field. Source: INTERFACE 2.3. @module */
import { SnapshotInvalidError } from './errors.js'

/** The payment states of INTERFACE 3. */
export type PaymentState = 'pending' | 'success' | 'failure' | 'refund_pending' | 'refund_success' | 'refund_failure'

/** The merchant of a payment. */
export interface Recipient {
  readonly title: string
  readonly subtitle: string | null
}

/** The invoice of a payment. Amounts are decimal strings; never turn them into floating point. */
export interface Invoice {
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
  readonly state: PaymentState | (string & {}) | null
  /** null when no merchant name is known. */
  readonly recipient: Recipient | null
  /** null unless all four of its fields are known. */
  readonly invoice: Invoice | null
}

type Check = readonly [holds: (value: unknown) => boolean, expected: string]

const matching = (pattern: RegExp, expected: string): Check => [
  (value) => typeof value === 'string' && pattern.test(value),
  expected,
]
const address = matching(/^0x[0-9a-f]{40}$/, '0x and 40 lowercase hex digits')
const amount = matching(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/, 'a decimal string such as "12.50"')
const currency = matching(/^[A-Z]{3}$/, 'a three-letter currency code')
const version: Check = [(value) => Number.isSafeInteger(value) && (value as number) > 0, 'a whole number, 1 or more']
const text: Check = [(value) => typeof value === 'string', 'a string']
const textOrNull: Check = [(value) => value === null || typeof value === 'string', 'a string or null']
const stateOrNull: Check = [
  (value) => value === null || (typeof value === 'string' && value !== ''),
  'a payment state or null',
]

const snapshotFields = {
  integrationAddress: address,
  chainId: matching(/^[1-9][0-9]{0,14}$/, 'a chain id as a decimal string'),
  txHash: matching(/^0x[0-9a-f]{64}$/, '0x and 64 lowercase hex digits'),
  version,
  state: stateOrNull,
}
const recipientFields = { title: text, subtitle: textOrNull }
const invoiceFields = { amount, currency, settlementAmount: amount, settlementCurrency: currency }

/** Says whether a text has the form of an integration address: 0x and 40 lowercase hex digits. */
export function isAddress(value: unknown): value is string {
  return address[0](value)
}

/**
 * Reads a snapshot out of the bytes of a verified body. Every field must be there, null only where null is allowed.
 * @throws {@link SnapshotInvalidError} `ERR_SNAPSHOT_INVALID` with the field that is wrong; never its value.
 */
export function parseSnapshot(body: Uint8Array): Snapshot {
  const snapshot = parseJson(body)
  assertFields(snapshot, snapshotFields, '')
  assertNullable(snapshot['recipient'], recipientFields, 'recipient')
  assertNullable(snapshot['invoice'], invoiceFields, 'invoice')
  return snapshot as unknown as Snapshot
}

function parseJson(body: Uint8Array): Record<string, unknown> {
  try {
    // A byte order mark is kept and refused by JSON.parse: JSON on the wire has none (RFC 8259, 8.1).
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
    if (isRecord(value)) return value
  } catch {
    // The parser's own message quotes the body.
  }
  throw new SnapshotInvalidError('', 'a JSON object in UTF-8')
}

function assertNullable(value: unknown, fields: Record<string, Check>, path: string): void {
  if (value === null) return
  if (!isRecord(value)) throw new SnapshotInvalidError(path, 'an object or null')
  assertFields(value, fields, `${path}.`)
}

function assertFields(value: Record<string, unknown>, fields: Record<string, Check>, prefix: string): void {
  for (const [name, [holds, expected]] of Object.entries(fields))
    if (!holds(value[name])) throw new SnapshotInvalidError(`${prefix}${name}`, expected)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
