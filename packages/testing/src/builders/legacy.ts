/** Builds answers of the legacy API. Source: docs/interface.md 2.4. @module */
import {
  type Lookup,
  lookupWriteSchema,
  type VerificationError,
  type Verify,
  verifyWriteSchema,
} from '@payment-integration/contract'
import type { Draws } from './draws.js'

/** A payment of a look-up. */
export type LookupItem = Lookup['payments'][number]

/** Builders of one seed. */
export interface LegacyBuilders {
  /** One payment of a transaction. */
  lookupItem(fields?: Partial<LookupItem>): LookupItem
  /** The answer of a look-up, by default with one payment. */
  lookup(fields?: Partial<Lookup>): Lookup
  /** The answer of verify for a look-up: verified, or with the given reasons. */
  verify(lookup?: Lookup, reasons?: readonly VerificationError[]): Verify
}

const digits = 6

/** Makes the builders. Every shape passes the contract's write schema. */
export function createLegacyBuilders(draws: Draws): LegacyBuilders {
  const units = (value: number) => ({
    formatted: `${Math.floor(value / 10 ** digits)}.${String(value % 10 ** digits).padStart(digits, '0')}`,
    value: String(value),
  })
  const lookupItem = (fields: Partial<LookupItem> = {}): LookupItem => {
    const gross = draws.whole(1_000_000, 500_000_000)
    const fee = Math.floor(gross / 200)
    return {
      memo: `order-${draws.whole(1_000, 9_999)}`,
      receiver: draws.hex(20),
      tokenSymbol: 'USDC',
      tokenAmount: units(gross),
      tokenAmountNet: units(gross - fee),
      totalFees: units(fee),
      fees: [{ type: 'ServiceFee', ...units(fee) }],
      invoiceAmount: units(gross).formatted,
      invoiceCurrency: 'USD',
      conversion: '',
      priceFeeds: [],
      final: true,
      ...fields,
    }
  }
  const lookup = (fields: Partial<Lookup> = {}): Lookup =>
    lookupWriteSchema.parse({ chainId: 137, txHash: draws.hex(32), payments: [lookupItem()], ...fields })
  return {
    lookupItem,
    lookup,
    verify: (given = lookup(), reasons = []) =>
      verifyWriteSchema.parse({
        ...given,
        payments: given.payments.map((payment) => ({
          ...payment,
          verified: reasons.length === 0,
          verificationErrors: reasons,
        })),
      }),
  }
}
