/** Plans demo payments, and sends the requests of processor, reader and shop. @module */
import { isDeepStrictEqual } from 'node:util'
import { createClient } from '@payment-integration/client'
import type { ProcessorUpdate } from '@payment-integration/contract'
import { startTimeLimit } from '@payment-integration/contract/internal-io'
import type { Service } from '@payment-integration/core'
import { type Snapshot, signatureHeader } from '@payment-integration/webhook'
import { signDelivery } from '@payment-integration/webhook/signing'
import { DemoError } from '../errors.js'
import type { DemoChain } from './chain.js'
import type { LegacyReadyEvent } from './demo-events.js'

type PlannedUpdate = Pick<ProcessorUpdate, 'state' | 'recipient' | 'invoice'>

export type PaymentPlan = ReturnType<typeof planPayment>

const merchants = [
  { title: 'Blue Door Coffee', subtitle: 'Lisbon' },
  { title: 'Harbour Books', subtitle: null },
  { title: 'Night Train Tickets', subtitle: 'Vienna to Rome' },
  { title: 'Green Fork', subtitle: 'Lunch menu' },
] as const
const refundShare = 0.25
/** The exchange rate: settlement cents for 100 invoice cents. */
const usdPerHundredEur = 108

/** Plans a payment: 1.00 to 120.00 EUR to a merchant, with a refund for about every fourth payment. */
export function planPayment(number: number, fraction: () => number) {
  const cents = 100 + Math.floor(fraction() * 11_901)
  const merchant = merchants[Math.floor(fraction() * merchants.length)] ?? merchants[0]
  const isRefunded = fraction() < refundShare
  const settlementCents = Math.round((cents * usdPerHundredEur) / 100)
  const invoice = {
    amount: decimal(cents),
    currency: 'EUR',
    settlementAmount: decimal(settlementCents),
    settlementCurrency: 'USD',
  }
  const paid: PlannedUpdate[] = [{ state: 'pending' }, { state: 'success', recipient: merchant, invoice }]
  const refund: PlannedUpdate[] = [{ state: 'refund_pending' }, { state: 'refund_success' }]
  return {
    number,
    /** Reference written into the payment, at most 31 ASCII characters. */
    memo: `order-${number}`,
    /** In hundredths of the settlement token. */
    settlementCents,
    /** The settlement amount as a decimal string, such as 12.50. */
    settlementAmount: invoice.settlementAmount,
    price: `${invoice.amount} ${invoice.currency}`,
    updates: isRefunded ? [...paid, ...refund] : paid,
  }
}

function decimal(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
}

/** Creates a repeatable sequence (mulberry32) for the demo. The same seed gives the same numbers. Not for secrets. */
export function seededFraction(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const timeoutMs = 10_000

/**
 * Creates the processor: a function that posts an update, signed with `secret` as `POST /api/v1/processor/updates`
 * requires. It returns the payment's new version, or null while the update waits for the payment to be indexed.
 */
export function createUpdateSender(options: {
  readonly serviceUrl: string
  readonly secret: string
  readonly clock: { now(): number }
}) {
  const url = new URL('/api/v1/processor/updates', options.serviceUrl)
  return async (update: ProcessorUpdate, signal?: AbortSignal): Promise<number | null> => {
    const body = new TextEncoder().encode(JSON.stringify(update))
    const timestamp = Math.floor(options.clock.now() / 1000)
    const signature = await signDelivery({ secret: options.secret, timestamp, body })
    const limit = startTimeLimit(timeoutMs, signal)
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [signatureHeader]: signature },
        body,
        signal: limit.signal,
      })
      const answer = (await response.json()) as { version?: number | null; reason?: string | null; error?: string }
      if (!response.ok)
        throw new DemoError(
          `The service answered ${response.status} to the processor's update ${update.state}: ${answer.reason ?? answer.error ?? 'no reason given'}.`,
        )
      return answer.version ?? null
    } finally {
      limit.end()
    }
  }
}

/**
 * Creates the reader: a function that compares the API's payment, read with the integration's credentials, with the
 * receiver's copy. `difference` is null when both agree. `stored` reads the receiver's database.
 */
export function createComparison(options: {
  readonly serviceUrl: string
  readonly integrationAddress: string
  readonly apiSecret: string
  readonly stored: (payment: Pick<Snapshot, 'chainId' | 'txHash'>) => Snapshot | null
}) {
  const { serviceUrl: baseUrl, integrationAddress, apiSecret } = options
  const client = createClient({ baseUrl, integrationAddress, apiSecret })
  return async (txHash: string, signal?: AbortSignal): Promise<{ state: string | null; difference: string | null }> => {
    const payment = await client.payments.get(txHash, signal ? { signal } : {})
    const { state } = payment
    const stored = options.stored(payment)
    if (stored === null) return { state, difference: 'The receiver stored nothing.' }
    // The API's payment has every field of the notification: docs/interface.md 2.1, below the table.
    const apiFields: Readonly<Record<string, unknown>> = payment
    const [field] = Object.entries(stored).find(([name, value]) => !isDeepStrictEqual(apiFields[name], value)) ?? []
    return { state, difference: field === undefined ? null : `The API and the receiver disagree about "${field}".` }
  }
}

export const accountHandle = 'demo-shop'

/** Creates a legacy API key, and the merchant's account, which accepts the demo's token. Resolves with the key. */
export async function setUpLegacy(
  { accounts, legacyKeys }: Pick<Service, 'accounts' | 'legacyKeys'>,
  { chainId, merchant, token }: Pick<DemoChain, 'chainId' | 'merchant' | 'token'>,
): Promise<string> {
  const coins = [{ chainId, tokens: [{ symbol: token.symbol, address: token.address }] }]
  const [{ apiKey }] = await Promise.all([
    legacyKeys.create({ name: 'Demo' }),
    accounts.create({ handle: accountHandle, address: merchant, config: { coins } }),
  ])
  return apiKey
}

/** Builds the legacy requests for a payment: look-up, and verification against an invoice in the token's currency. */
export function buildLegacyExample(
  options: Readonly<Record<'serviceUrl' | 'legacyApiKey' | 'currency', string>> & { readonly chainId: number },
  txHash: string,
  { settlementAmount: invoiceAmount }: Pick<PaymentPlan, 'settlementAmount'>,
): LegacyReadyEvent {
  const { serviceUrl, legacyApiKey, chainId, currency } = options
  return {
    event: 'legacy.ready',
    chainId: String(chainId),
    txHash,
    legacyApiKey,
    lookupUrl: `${serviceUrl}/api/v1/tx/${chainId}/${txHash}`,
    verifyUrl: `${serviceUrl}/api/v1/verify`,
    verifyRequest: { chainId, txHash, invoiceAmount, invoiceCurrency: currency, address: accountHandle },
    referenceUrl: `${serviceUrl}/reference`,
  }
}
