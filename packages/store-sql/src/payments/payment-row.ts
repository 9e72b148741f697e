/** Converts payments between rows and objects. @module */
import type { InvoiceBody, PaymentState, RecipientBody } from '@payment-integration/contract'
import { initialStatus, type NewPayment } from '@payment-integration/core/internal'
import type {
  PaymentFacts,
  PaymentStatus,
  PriceFeedFacts,
  PricingFacts,
  StoredPayment,
} from '@payment-integration/core/ports'
import type { ExpressionBuilder, Selectable } from 'kysely'
import type { BulkColumn } from '../engine.js'
import { memoize, pack, toHex, toNullableHex, toNumber, unpack } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'

// All fields of a recipient and of an invoice: an update with any other field is rejected.
type RecipientValues = readonly [title: string, subtitle: string | null]
type InvoiceValues = readonly [amount: string, currency: string, settlementAmount: string, settlementCurrency: string]

/** A recipient as a JSON array, such as `["Kiosk","Counter 3"]`. */
export function packRecipient(recipient: RecipientBody | null): string | null {
  const values: RecipientValues | null = recipient && [recipient.title, recipient.subtitle]
  return pack(values)
}

export function unpackRecipient(text: string | null): RecipientBody | null {
  const values = unpack<RecipientValues>(text)
  return values && { title: values[0], subtitle: values[1] }
}

/** An invoice as a JSON array, such as `["12.50","CHF","14.02","USD"]`. */
export function packInvoice(invoice: InvoiceBody | null): string | null {
  if (invoice === null) return null
  const { amount, currency, settlementAmount, settlementCurrency } = invoice
  const values: InvoiceValues = [amount, currency, settlementAmount, settlementCurrency]
  return pack(values)
}

export function unpackInvoice(text: string | null): InvoiceBody | null {
  const values = unpack<InvoiceValues>(text)
  if (values === null) return null
  const [amount, currency, settlementAmount, settlementCurrency] = values
  return { amount, currency, settlementAmount, settlementCurrency }
}

/** The beginning of every stored invoice with this amount, and currency if given, and of no other. */
export const formatInvoicePrefix = (amount: string, currency?: string): string =>
  `${JSON.stringify(currency === undefined ? [amount] : [amount, currency]).slice(0, -1)},`

/** The values of pricing, stored as a JSON array. Large integers are decimal digits: JSON numbers would round them. */
type PricingValues = readonly [
  listedToken: readonly [symbol: string, currency: string] | null,
  feeds: readonly FeedValues[],
  calledAmount: string | null,
  serviceFee: string | null,
]
type FeedValues = readonly [
  use: PriceFeedFacts['use'],
  contract: string | null,
  pair: readonly [base: string, quote: string] | null,
  rate: string,
  decimals: number,
]

/** Facts as a JSON array, or null when none is known. Equal facts give equal text. */
export function packPricing({ listedToken, feeds, calledAmount, serviceFee }: PricingFacts): string | null {
  if (listedToken === null && feeds.length === 0 && calledAmount === null && serviceFee === null) return null
  const values: PricingValues = [
    listedToken && [listedToken.symbol, listedToken.currency],
    feeds.map(({ use, contract, pair, rate, decimals }) => [
      use,
      contract,
      pair && [pair.base, pair.quote],
      rate.toString(),
      decimals,
    ]),
    calledAmount?.toString() ?? null,
    serviceFee?.toString() ?? null,
  ]
  return pack(values)
}

const noPricing: PricingFacts = { listedToken: null, feeds: [], calledAmount: null, serviceFee: null }
const readPricing: (text: string) => PricingFacts = memoize(parsePricing)

export const unpackPricing = (text: string | null): PricingFacts => (text === null ? noPricing : readPricing(text))

function parsePricing(text: string): PricingFacts {
  const [listedToken, feeds, calledAmount, serviceFee] = unpack<PricingValues>(text)
  return {
    listedToken: listedToken && { symbol: listedToken[0], currency: listedToken[1] },
    feeds: feeds.map(([use, contract, pair, rate, decimals]) => ({
      use,
      contract,
      pair: pair && { base: pair[0], quote: pair[1] },
      rate: BigInt(rate),
      decimals,
    })),
    calledAmount: calledAmount === null ? null : BigInt(calledAmount),
    serviceFee: serviceFee === null ? null : BigInt(serviceFee),
  }
}

export const insertColumns = [
  { name: 'chain_id', type: 'integer' },
  { name: 'tx_hash', type: 'hex' },
  { name: 'ordinal', type: 'integer' },
  { name: 'log_index', type: 'integer' },
  { name: 'block_number', type: 'integer' },
  { name: 'block_hash', type: 'hex' },
  { name: 'block_timestamp', type: 'integer' },
  { name: 'router_address', type: 'hex' },
  { name: 'router_version', type: 'text' },
  { name: 'sender', type: 'hex' },
  { name: 'receiver', type: 'hex' },
  { name: 'memo', type: 'hex' },
  { name: 'integration', type: 'hex' },
  { name: 'source_chain_id', type: 'integer' },
  { name: 'source_tx_hash', type: 'hex' },
  { name: 'token_in_address', type: 'hex' },
  { name: 'token_in_symbol', type: 'text' },
  { name: 'token_in_decimals', type: 'integer' },
  { name: 'token_in_amount', type: 'text' },
  { name: 'token_out_address', type: 'hex' },
  { name: 'token_out_symbol', type: 'text' },
  { name: 'token_out_decimals', type: 'integer' },
  { name: 'token_out_gross', type: 'text' },
  { name: 'token_out_net', type: 'text' },
  { name: 'pricing', type: 'text' },
  { name: 'off_chain', type: 'integer' },
  { name: 'is_primary', type: 'integer' },
] as const satisfies readonly BulkColumn[]

/** By name, because a prepared statement with `*` fails after a new column. */
export const factColumns = [
  'payments.id',
  'payments.dropped',
  ...insertColumns.map(({ name }) => `payments.${name}` as const),
] as const

export const statusColumns = ['statuses.version', 'statuses.state', 'statuses.recipient', 'statuses.invoice'] as const

export const paymentColumns = [...factColumns, ...statusColumns] as const

/** A subquery per row limits the cost of any plan: a join may read all statuses. */
export const selectStatuses = ({ selectFrom }: ExpressionBuilder<Tables, 'payments'>) =>
  (['version', 'state', 'recipient', 'invoice'] as const).map((name) =>
    selectFrom('statuses').select(name).whereRef('statuses.payment_id', '=', 'payments.id').as(name),
  )

export type FactRow = Selectable<Tables['payments']>
type Statuses = Pick<Tables['statuses'], 'version' | 'state' | 'recipient' | 'invoice'>
/** All null: the payment has the initial status. */
export type StatusColumns = { readonly [Column in keyof Statuses]: Statuses[Column] | null }
export type StoredRow = FactRow & StatusColumns

/**
 * A row with one more column, whose meaning each statement names. All frequent reads have it, so that they share one
 * row view: one view is several times as fast as two.
 */
export type WithExtra<Row> = Row & { readonly extra: Integer | null }

/** The values of a new payment, in the order of {@link insertColumns}. A value that repeats another column is null. */
export function toInsertValues(facts: PaymentFacts, primary: boolean): unknown[] {
  const { source, tokenIn, tokenOut } = facts
  const isOwnSource = source.chainId === facts.chainId && source.txHash === facts.txHash
  const isOneToken =
    tokenIn.address === tokenOut.address && tokenIn.symbol === tokenOut.symbol && tokenIn.decimals === tokenOut.decimals
  return [
    facts.chainId,
    facts.txHash,
    facts.ordinal,
    facts.logIndex,
    facts.blockNumber,
    facts.blockHash,
    facts.blockTimestamp,
    facts.router.address,
    facts.router.version,
    facts.sender,
    facts.receiver,
    facts.memoHex,
    facts.integrationAddress,
    isOwnSource ? null : source.chainId,
    isOwnSource ? null : source.txHash,
    tokenIn.address,
    pack(tokenIn.symbol),
    tokenIn.decimals,
    tokenIn.amount.toString(),
    isOneToken ? null : tokenOut.address,
    isOneToken ? null : pack(tokenOut.symbol),
    isOneToken ? null : tokenOut.decimals,
    tokenOut.gross.toString(),
    tokenOut.net.toString(),
    packPricing(facts.pricing),
    0,
    primary ? 1 : 0,
  ]
}

export function toInsertedPayment(id: string, { facts, primary }: NewPayment): StoredPayment {
  // Not a spread, which costs more than the row.
  return {
    id,
    primary,
    offChain: false,
    dropped: null,
    chainId: facts.chainId,
    txHash: facts.txHash,
    ordinal: facts.ordinal,
    logIndex: facts.logIndex,
    blockNumber: facts.blockNumber,
    blockHash: facts.blockHash,
    blockTimestamp: facts.blockTimestamp,
    router: facts.router,
    sender: facts.sender,
    receiver: facts.receiver,
    memoHex: facts.memoHex,
    integrationAddress: facts.integrationAddress,
    source: facts.source,
    tokenIn: facts.tokenIn,
    tokenOut: facts.tokenOut,
    pricing: facts.pricing,
    version: initialStatus.version,
    state: initialStatus.state,
    recipient: initialStatus.recipient,
    invoice: initialStatus.invoice,
  }
}

const readSymbol = memoize((text) => unpack<string>(text))
const unpackSymbol = (text: string | null) => (text === null ? null : readSymbol(text))

export const toStoredPayment = (row: StoredRow): StoredPayment => toPayment(row, row)

export function toPayment(row: FactRow, status: StatusColumns | undefined): StoredPayment {
  const [chainId, txHash] = [toNumber(row.chain_id), toHex(row.tx_hash)]
  const tokenIn = {
    address: toHex(row.token_in_address),
    symbol: unpackSymbol(row.token_in_symbol),
    decimals: toNumber(row.token_in_decimals),
    amount: BigInt(row.token_in_amount),
  }
  return {
    id: String(row.id),
    primary: toNumber(row.is_primary) === 1,
    offChain: toNumber(row.off_chain) === 1,
    dropped: unpack<StoredPayment['dropped'] & object>(row.dropped),
    chainId,
    txHash,
    ordinal: toNumber(row.ordinal),
    logIndex: toNumber(row.log_index),
    blockNumber: toNumber(row.block_number),
    blockHash: toHex(row.block_hash),
    blockTimestamp: toNumber(row.block_timestamp),
    router: { address: toHex(row.router_address), version: row.router_version },
    sender: toHex(row.sender),
    receiver: toHex(row.receiver),
    memoHex: toHex(row.memo),
    integrationAddress: toNullableHex(row.integration),
    source:
      row.source_chain_id === null || row.source_tx_hash === null
        ? { chainId, txHash }
        : { chainId: toNumber(row.source_chain_id), txHash: toHex(row.source_tx_hash) },
    tokenIn,
    tokenOut: toTokenOut(row, tokenIn),
    pricing: unpackPricing(row.pricing),
    ...toStatus(status),
  }
}

function toStatus(row: StatusColumns | undefined): PaymentStatus {
  if (row === undefined || row.version === null) return initialStatus
  return {
    version: toNumber(row.version),
    state: row.state as PaymentState | null,
    recipient: unpackRecipient(row.recipient),
    invoice: unpackInvoice(row.invoice),
  }
}

function toTokenOut(row: FactRow, tokenIn: StoredPayment['tokenIn']): StoredPayment['tokenOut'] {
  const amounts = { gross: BigInt(row.token_out_gross), net: BigInt(row.token_out_net) }
  if (row.token_out_address === null || row.token_out_decimals === null) {
    const { address, symbol, decimals } = tokenIn
    return { address, symbol, decimals, ...amounts }
  }
  return {
    address: toHex(row.token_out_address),
    symbol: unpackSymbol(row.token_out_symbol),
    decimals: toNumber(row.token_out_decimals),
    ...amounts,
  }
}
