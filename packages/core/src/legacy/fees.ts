/** Splits the fees of a payment. Source: docs/interface.md 2.4 (fees). @module */
import type { StoredPayment } from '../payments/record.js'

/** The router's own fee in basis points of the gross amount, charged when the payment has a memo. */
export const serviceFeeBps = 20n
const wholeBps = 10_000n

/** A part of the fees, in base units, above 0. */
export interface Fee {
  readonly type: 'ServiceFee' | 'ExtraFee'
  readonly value: bigint
}

/** The fees of a payment, in base units. Parts of 0 are left out, so that `parts` adds up to `total`. */
export function feesOf(payment: Pick<StoredPayment, 'tokenOut' | 'memoHex' | 'pricing'>): {
  readonly total: bigint
  readonly parts: readonly Fee[]
} {
  const { gross, net } = payment.tokenOut
  const total = gross - net
  const service = least(payment.pricing.serviceFee ?? usualServiceFee(payment.memoHex, gross), total)
  const parts: Fee[] = [
    { type: 'ServiceFee', value: service },
    { type: 'ExtraFee', value: total - service },
  ]
  return { total, parts: parts.filter(({ value }) => value > 0n) }
}

function usualServiceFee(memoHex: string, gross: bigint): bigint {
  return /^0x0*$/.test(memoHex) ? 0n : shareOf(gross, serviceFeeBps)
}

/** Basis points of an amount, rounded down like the router. */
export function shareOf(amount: bigint, bps: bigint): bigint {
  return (amount * bps) / wholeBps
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
