/** The service's part of a payment's fees. Source: the router's paying calls. @module */
import type { RouterCall } from './router-decoder.js'

/** The fee that every listed router charges, in basis points of the gross amount. */
const serviceFeeBps = 20n
const wholeInBps = 10_000n

/**
 * The total less the extra fee of the call. Each fee is rounded down by itself.
 * @param total - All fees of the event, in base units.
 * @returns Null when the router cannot have charged the rest, so that the call does not explain the total.
 */
export function serviceFeeOf(
  { extraFee, convenienceFeeBps }: Pick<RouterCall, 'extraFee' | 'convenienceFeeBps'>,
  gross: bigint,
  total: bigint,
): bigint | null {
  const rest = total - extraFeeOf(extraFee, gross)
  const convenience = (gross * convenienceFeeBps) / wholeInBps
  const own = (gross * serviceFeeBps) / wholeInBps
  return rest === convenience || rest === convenience + own ? rest : null
}

function extraFeeOf(fee: RouterCall['extraFee'], gross: bigint): bigint {
  if (fee === null) return 0n
  return 'divisor' in fee ? gross / fee.divisor : (gross * fee.bps) / wholeInBps
}
