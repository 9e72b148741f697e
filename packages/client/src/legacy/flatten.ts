/**
 * Converts a legacy answer to the flat shape. Source: docs/interface.md 2.4 (published type snapshot, subject to
 * change).
 * @module
 */
import type { FlatTransaction, Lookup, Verify } from '@payment-integration/contract'
import { isAmount } from '../amounts/amount.js'

/**
 * One flat entry per payment, in the order of the answer. Amounts are decimal text; `…Native` counts base units.
 * `serviceFee` is the exact sum of the service fees in token units, `0` without any. `priceFeeds` joins the contracts
 * by commas in the order of use; a rate without a contract gives an empty entry.
 * @throws {TypeError} When one of several service fees is not a plain decimal of at most 1000 characters.
 * @example flattenLookup(await legacy.lookup({ chainId: 137, txHash }))[0]?.tokenAmountNet
 */
export function flattenLookup({ chainId, txHash, payments }: Lookup | Verify): FlatTransaction[] {
  return payments.map((payment) => ({
    chainId,
    txHash,
    memo: payment.memo,
    receiver: payment.receiver,
    tokenSymbol: payment.tokenSymbol,
    tokenAmountGross: payment.tokenAmount.formatted,
    tokenAmountNet: payment.tokenAmountNet.formatted,
    tokenAmountGrossNative: payment.tokenAmount.value,
    tokenAmountNetNative: payment.tokenAmountNet.value,
    serviceFee: sumOf(payment.fees.filter(({ type }) => type === 'ServiceFee').map(({ formatted }) => formatted)),
    invoiceAmount: payment.invoiceAmount,
    invoiceCurrency: payment.invoiceCurrency,
    conversion: payment.conversion,
    priceFeeds: payment.priceFeeds.map(({ contract }) => contract).join(','),
  }))
}

/** One decimal stays unchanged; several give their exact sum in its shortest form. */
function sumOf(decimals: readonly string[]): string {
  if (decimals.length < 2) return decimals[0] ?? '0'
  if (!decimals.every(isAmount))
    throw new TypeError('A ServiceFee of the answer is no plain decimal; read fees of the look-up instead.')
  const parts = decimals.map((text) => text.split('.'))
  const places = Math.max(...parts.map(([, fraction = '']) => fraction.length))
  const units = parts.map(([whole = '', fraction = '']) => BigInt(whole + fraction.padEnd(places, '0')))
  const digits = String(units.reduce((sum, each) => sum + each)).padStart(places + 1, '0')
  if (places === 0) return digits
  let end = digits.length
  while (end > digits.length - places && digits[end - 1] === '0') end -= 1
  const whole = digits.slice(0, -places)
  const fraction = digits.slice(-places, end)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
