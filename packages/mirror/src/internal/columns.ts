/**
 * Names, columns and SQL of the tables, and a missing or foreign table by the driver's error. Source:
 * docs/interface.md 2.1, 2.3.
 * @module
 */

import type { Payment } from '@payment-integration/client'
import type { Snapshot } from '@payment-integration/webhook'
import type { Dialect, TableOptions } from '../database.js'
import { MirrorTableForeignError, MirrorTablesMissingError } from '../errors.js'

/** Quoted names of one mirror's tables. */
export interface TableNames {
  readonly payments: string
  readonly state: string
  /** Quotes the name of an index. An index lies in the schema of its table. */
  readonly index: (suffix: string) => string
}

/** Keeps the mirror's names apart from a `payments` table of your own. */
export const defaultPrefix = 'mirror_'

/**
 * Checks and quotes the names.
 * @throws {TypeError} When one has other characters than lower-case letters, digits and underscores, or is too long.
 */
export function tableNames({ schema, prefix = defaultPrefix }: TableOptions): TableNames {
  if (typeof prefix !== 'string' || !/^[a-z_][a-z0-9_]{0,31}$/.test(prefix))
    throw new TypeError('prefix must be 1 to 32 lower-case letters, digits and underscores, the first no digit.')
  if (schema !== undefined && (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)))
    throw new TypeError('schema must be 1 to 63 lower-case letters, digits and underscores, the first no digit.')
  const inSchema = (name: string) => `${schema === undefined ? '' : `"${schema}".`}"${prefix}${name}"`
  return {
    payments: inSchema('payments'),
    state: inSchema('state'),
    index: (suffix) => `"${prefix}payments_${suffix}"`,
  }
}

/** Rethrows an error of the driver; one about a table as the mirror's own. */
export function rethrow(table: string): (error: unknown) => never {
  return (error) => {
    const { code, message } = Object(error) as { code?: unknown; message?: unknown }
    const text = String(message)
    if (code === '42P01' || /no such table/.test(text)) throw new MirrorTablesMissingError(table, error)
    if (code === '42703' || /no such column|has no column named/.test(text))
      throw new MirrorTableForeignError(table, error)
    throw error
  }
}

/** A value of a column, as every driver takes it. */
export type Value = string | number | null

/** The primary key of a payment. */
export const keyColumns = ['integration_address', 'chain_id', 'tx_hash'] as const

/** The other columns that a delivery carries. */
export const snapshotColumns = [
  'version',
  'state',
  'recipient_title',
  'recipient_subtitle',
  'invoice_amount',
  'invoice_currency',
  'invoice_settlement_amount',
  'invoice_settlement_currency',
] as const

/** The columns that only the read API gives. */
export const factColumns = [
  'sender',
  'receiver',
  'memo',
  'block_timestamp',
  'source_chain_id',
  'source_tx_hash',
  'token_in_address',
  'token_in_symbol',
  'token_in_amount',
  'token_out_address',
  'token_out_symbol',
  'token_out_amount_gross',
  'token_out_amount_net',
  'body',
  'body_version',
] as const

/** A payment of one integration. */
export interface Key {
  readonly integrationAddress: string
  readonly chainId: string
  readonly txHash: string
}

/** Values of {@link keyColumns}. */
export function keyValues({ integrationAddress, chainId, txHash }: Key): Value[] {
  return [integrationAddress, chainId, txHash]
}

/** Values of {@link snapshotColumns}. */
export function snapshotValues({ version, state, recipient, invoice }: Snapshot | Payment): Value[] {
  return [
    version,
    storable(state),
    storable(recipient?.title ?? null),
    storable(recipient?.subtitle ?? null),
    invoice?.amount ?? null,
    invoice?.currency ?? null,
    invoice?.settlementAmount ?? null,
    invoice?.settlementCurrency ?? null,
  ]
}

/** Values of {@link factColumns}. */
export function factValues(payment: Payment): Value[] {
  const { sender, receiver, memo, blockTimestamp, source, tokenIn, tokenOut } = payment
  return [
    sender,
    receiver,
    storable(memo),
    // One form for all, so that SQLite orders the texts by time.
    new Date(blockTimestamp).toISOString(),
    source.chainId,
    source.txHash,
    tokenIn.address,
    storable(tokenIn.symbol),
    tokenIn.amount,
    tokenOut.address,
    storable(tokenOut.symbol),
    tokenOut.amountGross,
    tokenOut.amountNet,
    bodyOf(payment),
    payment.version,
  ]
}

/** The payment as JSON, unknown fields included. JSON escapes what a text column cannot hold. */
export function bodyOf(payment: Payment): string {
  return JSON.stringify(payment)
}

/**
 * PostgreSQL stores no U+0000 in a text, and UTF-8 has no half of a surrogate pair. Both become U+FFFD, on SQLite too,
 * so that all mirrors agree. `body` keeps the original.
 */
function storable(text: string | null): string | null {
  return text?.replace(/\0|\p{Surrogate}/gu, '\ufffd') ?? null
}

/** A row whose newest version was not read from the read API yet. */
export const incomplete = '(body_version IS NULL OR body_version < version)'

/** Every column, in the order of the tables' documentation. */
export const paymentColumns = [...keyColumns, ...snapshotColumns, ...factColumns, 'updated_at'] as const

const keys: ReadonlySet<string> = new Set(keyColumns)

/** Statements that create tables and indexes where they are missing. */
export function schemaSql(dialect: Dialect, { payments, state, index }: TableNames): string[] {
  const types =
    dialect === 'postgres'
      ? { text: 'text', key: 'text COLLATE "C"', whole: 'bigint', time: 'timestamptz', json: 'json' }
      : { text: 'TEXT', key: 'TEXT', whole: 'INTEGER', time: 'TEXT', json: 'TEXT' }
  const typeOf = (column: string): string => {
    if (keys.has(column)) return `${types.key} NOT NULL`
    if (column === 'version') return `${types.whole} NOT NULL`
    if (column === 'updated_at') return `${types.time} NOT NULL`
    if (column === 'body_version') return types.whole
    if (column === 'block_timestamp') return types.time
    return column === 'body' ? types.json : types.text
  }
  const columns = paymentColumns.map((column) => `  ${column} ${typeOf(column)},\n`).join('')
  return [
    `CREATE TABLE IF NOT EXISTS ${payments} (\n${columns}  PRIMARY KEY (${keyColumns.join(', ')})\n)`,
    `CREATE INDEX IF NOT EXISTS ${index('newest')} ON ${payments} (integration_address, block_timestamp)`,
    `CREATE INDEX IF NOT EXISTS ${index('incomplete')} ON ${payments} (${keyColumns.join(', ')}) WHERE ${incomplete}`,
    `CREATE TABLE IF NOT EXISTS ${state} (
  integration_address ${types.key} NOT NULL PRIMARY KEY,
  checkpoint ${types.json},
  reconciled_at ${types.time},
  reconciled_fully_at ${types.time},
  delivered_at ${types.time}
)`,
  ]
}
