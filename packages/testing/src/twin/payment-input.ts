/** Makes the facts of a payment: drawn values, replaced by given ones. @module */
import type { TokenFacts } from '@payment-integration/core/ports'
import type { Draws } from '../builders/draws.js'
import { twinRouter, type UnminedPayment } from './chain.js'

/** A payment to make. Everything but the integration has a drawn default. */
export interface TwinPaymentInput {
  /** The integration that the payment names; null: none. */
  readonly integrationAddress: string | null
  /** Chain of the twin. @default 137 */
  readonly chainId?: number | undefined
  /** Hash of the transaction, for one hash on several chains. @default drawn */
  readonly txHash?: string | undefined
  /** Amount in token units, such as `12.50`. @default drawn */
  readonly amount?: string | undefined
  /** Symbol of the token. @default USDC */
  readonly token?: string | undefined
  /** Decimals of the token, 0 to 30. @default 6 */
  readonly decimals?: number | undefined
  /** At most 32 bytes of UTF-8. @default drawn */
  readonly memo?: string | undefined
  readonly sender?: string | undefined
  readonly receiver?: string | undefined
  /** The source of a payment from another chain. @default the same transaction */
  readonly source?: { readonly chainId: number; readonly txHash: string } | undefined
}

/** As many characters of a symbol are read from a chain. */
const mostSymbol = 64

const names = new Set([
  'integrationAddress',
  'chainId',
  'txHash',
  'amount',
  'token',
  'decimals',
  'memo',
  'sender',
  'receiver',
  'source',
])

/**
 * Makes the facts of a payment.
 * @throws {TypeError} For an unknown field. @throws {RangeError} For a malformed one.
 */
export function paymentOf(input: TwinPaymentInput, draws: Draws): UnminedPayment {
  for (const name of Object.keys(input))
    if (!names.has(name)) throw new TypeError(`${name} is no field of a payment; there are ${[...names].join(', ')}.`)
  const drawn = {
    txHash: draws.hex(32),
    sender: draws.hex(20),
    receiver: draws.hex(20),
    amount: `${draws.whole(1, 500)}.${draws.whole(10, 99)}`,
    memo: `order-${draws.whole(1_000, 9_999)}`,
  }
  const { chainId = 137, token: symbol = 'USDC', decimals = 6 } = input
  const txHash = hex('txHash', 32, input.txHash ?? drawn.txHash)
  const units = toUnits(input.amount ?? drawn.amount, decimals)
  if ([...symbol].length > mostSymbol) throw new RangeError(`token has more than ${mostSymbol} characters.`)
  const token: TokenFacts = { address: `0x${'70'.repeat(20)}`, symbol, decimals }
  const { integrationAddress } = input
  return {
    chainId,
    txHash,
    ordinal: 0,
    logIndex: 0,
    router: twinRouter,
    sender: hex('sender', 20, input.sender ?? drawn.sender),
    receiver: hex('receiver', 20, input.receiver ?? drawn.receiver),
    memoHex: memoHex(input.memo ?? drawn.memo),
    integrationAddress: integrationAddress === null ? null : hex('integrationAddress', 20, integrationAddress),
    source: sourceOf(input.source ?? { chainId, txHash }),
    tokenIn: { ...token, amount: units },
    tokenOut: { ...token, gross: units, net: units },
    pricing: { listedToken: { symbol, currency: 'USD' }, feeds: [], calledAmount: null, serviceFee: null },
  }
}

const formats = { 20: /^0x[0-9a-fA-F]{40}$/, 32: /^0x[0-9a-fA-F]{64}$/ } as const

function hex(name: string, bytes: keyof typeof formats, value: string): string {
  if (formats[bytes].test(value)) return value.toLowerCase()
  throw new RangeError(`${name} is malformed; pass 0x and ${2 * bytes} hex digits.`)
}

function memoHex(memo: string): string {
  const bytes = Buffer.from(memo, 'utf8')
  if (bytes.length > 32) throw new RangeError(`memo has ${bytes.length} bytes; at most 32 fit into a payment.`)
  return `0x${bytes.toString('hex').padEnd(64, '0')}`
}

function sourceOf({ chainId, txHash }: NonNullable<TwinPaymentInput['source']>) {
  if (!Number.isSafeInteger(chainId) || chainId < 1)
    throw new RangeError(`source.chainId is ${chainId}; pass a whole number, 1 or more.`)
  return { chainId, txHash: hex('source.txHash', 32, txHash) }
}

/** A decimal in base units, exactly. */
function toUnits(amount: string, decimals: number): bigint {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 30)
    throw new RangeError(`decimals is ${decimals}; pass a whole number from 0 to 30.`)
  const [, whole = '', fraction = ''] = /^(0|[1-9]\d{0,29})(?:[.](\d{1,30}))?$/.exec(amount) ?? []
  if (whole === '') throw new RangeError('amount is malformed; pass a decimal such as 12.50.')
  if (fraction.length > decimals)
    throw new RangeError(`amount has ${fraction.length} decimals; the token has ${decimals}.`)
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}
