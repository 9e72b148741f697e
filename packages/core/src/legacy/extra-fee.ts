/** Limits the extra fee of a verified payment. Source: docs/decisions/legacy.md. @module */
import type { StoredPayment } from '../payments/record.js'
import { serviceFeeBps, shareOf } from './fees.js'

/** Largest extra fee by default, in basis points of the gross amount: 1 %. */
export const defaultMaxExtraFeeBps = 100

/** All of the gross amount, in basis points. */
const mostBps = 10_000

/** Whether the fees of a payment are within the limit. */
export type AllowsFees = (tokenOut: Pick<StoredPayment['tokenOut'], 'gross' | 'net'>) => boolean

/**
 * Builds the rule. Fees beyond the service's own are at most `maxBps` basis points of the gross amount, rounded down.
 * The payer chooses the extra fee and its receiver, who may be the payer. The service's fee is always its fixed share:
 * the payer chooses memo and call too.
 * @throws RangeError When `maxBps` is not a whole number from 0 to 10000.
 */
export function createAllowsFees(maxBps: number = defaultMaxExtraFeeBps): AllowsFees {
  if (!Number.isInteger(maxBps) || maxBps < 0 || maxBps > mostBps)
    throw new RangeError(`maxExtraFeeBps is ${maxBps}; pass a whole number from 0 to ${mostBps}.`)
  return ({ gross, net }) => gross - net <= shareOf(gross, serviceFeeBps) + shareOf(gross, BigInt(maxBps))
}
