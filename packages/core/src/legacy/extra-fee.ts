/** How much others may take from a payment that is verified. Source: docs/decisions/legacy.md. @module */
import type { StoredPayment } from '../payments/record.js'
import { serviceFeeBps, shareOf } from './fees.js'

/** Basis points of the gross amount that verify lets others take when a host says nothing: 1 %. */
export const defaultMaxExtraFeeBps = 100

/** All of the gross amount, in basis points. */
const mostBps = 10_000

/** Whether no more than allowed was taken from a payment. */
export type AllowsFees = (tokenOut: Pick<StoredPayment['tokenOut'], 'gross' | 'net'>) => boolean

/**
 * Builds the rule: what is taken beyond the service's own fee is at most `maxBps` basis points of the gross amount,
 * rounded down. The payer chooses the extra fee and who gets it, and may name himself. Neither the memo nor the call
 * decides what counts as the service's fee here: both are the payer's, too.
 * @throws RangeError When `maxBps` is not a whole number from 0 to 10000.
 */
export function createAllowsFees(maxBps: number = defaultMaxExtraFeeBps): AllowsFees {
  if (!Number.isInteger(maxBps) || maxBps < 0 || maxBps > mostBps)
    throw new RangeError(`maxExtraFeeBps is ${maxBps}; pass a whole number from 0 to ${mostBps}.`)
  return ({ gross, net }) => gross - net <= shareOf(gross, serviceFeeBps) + shareOf(gross, BigInt(maxBps))
}
