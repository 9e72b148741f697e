/** Fixtures of the legacy client: a key, and a transaction as the service writes it. */
import type { Lookup, VerifyResponse } from '@payment-integration/contract'
import { lookupWriteSchema, verifyResponseWriteSchema } from '@payment-integration/contract/internal'
import { createLegacyClient, type LegacyClient, type LegacyClientOptions } from '../src/exports/index.js'
import { hashOf, patience } from './fixtures.js'

/** Has characters that JSON escapes: a search must not depend on the escaping. */
export const apiKey = 'pi_legacy_7Kf/with+"quotes"\\and=more'
export const receiver = '0x2222222222222222222222222222222222222222'
export const txHash = hashOf(0xab)

/** The invoice that {@link verified} matches. */
export const invoice = { chainId: 137, txHash, invoiceAmount: '1.00', invoiceCurrency: 'CHF', address: receiver }

const item = {
  memo: 'order-7',
  receiver,
  tokenSymbol: 'USDC',
  tokenAmount: { formatted: '1.13', value: '1130000' },
  tokenAmountNet: { formatted: '1.1255', value: '1125500' },
  totalFees: { formatted: '0.0045', value: '4500' },
  fees: [
    { type: 'ExtraFee', formatted: '0.00224', value: '2240' },
    { type: 'ServiceFee', formatted: '0.00226', value: '2260' },
  ],
  invoiceAmount: '1',
  invoiceCurrency: 'CHF',
  conversion: 'chainlink:CHFUSD',
  priceFeeds: [{ name: 'CHFUSD', contract: '0x3333333333333333333333333333333333333333', rate: '1.13' }],
}

/** A look-up of a transaction with one payment per change, or with one unchanged payment. */
export function lookup(...changes: Partial<Lookup['payments'][number]>[]): Lookup {
  const payments = (changes.length === 0 ? [{}] : changes).map((change) => ({ ...item, final: true, ...change }))
  return lookupWriteSchema.parse({ chainId: 137, txHash, payments })
}

/** A verify answer with one payment per change, or with one unchanged payment. Payments are verified by default. */
export function verified(...changes: Partial<VerifyResponse['payments'][number]>[]): VerifyResponse {
  const good = { ...item, verified: true, verificationErrors: [] }
  const payments = (changes.length === 0 ? [{}] : changes).map((change) => ({ ...good, ...change }))
  return verifyResponseWriteSchema.parse({ chainId: 137, txHash, payments })
}

/** A client with short waits, so that a test of a retry takes milliseconds. */
export function getLegacyClient(baseUrl: string, options: Partial<LegacyClientOptions> = {}): LegacyClient {
  return createLegacyClient({ baseUrl, apiKey, ...patience, ...options })
}
