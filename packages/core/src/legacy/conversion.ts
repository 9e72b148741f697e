/**
 * Converts amounts like the router, from the invoice to the token and back. Source: docs/decisions/legacy.md.
 * @module
 */
import type { PriceFeedFacts } from '../payments/facts.js'

/** Amounts, both ends included, in the router's units: 10^-decimals of the token. */
export interface AmountRange {
  readonly from: bigint
  readonly to: bigint
}

/** The arithmetic of one step of a conversion. */
export type ConversionFeed = Pick<PriceFeedFacts, 'use' | 'rate' | 'decimals'>

/** Converts an amount like the router: each step is rounded down. Rates are above 0. */
export function convertAmount(amount: bigint, feeds: readonly ConversionFeed[]): bigint {
  return feeds.map(factors).reduce((value, { times, over }) => (value * times) / over, amount)
}

/** All amounts that convert to exactly `converted`, or null when none does. Rates are above 0. */
export function amountsThatConvertTo(converted: bigint, feeds: readonly ConversionFeed[]): AmountRange | null {
  let range: AmountRange = { from: converted, to: converted }
  for (const { times, over } of feeds.map(factors).reverse()) {
    // floor(x * times / over) >= y exactly when x >= y * over / times, so the range begins there and ends before y + 1
    // begins.
    range = { from: roundUp(range.from * over, times), to: roundUp((range.to + 1n) * over, times) - 1n }
  }
  return range.from <= range.to ? range : null
}

/** The amount of a range with the fewest decimals, the smallest of several: invoices have round amounts. */
export function roundestAmount({ from, to }: AmountRange, decimals: number): bigint {
  for (let step = 10n ** BigInt(decimals); step > 1n; step /= 10n) {
    const amount = roundUp(from, step) * step
    if (amount <= to) return amount
  }
  return from
}

function factors({ use, rate, decimals }: ConversionFeed): { readonly times: bigint; readonly over: bigint } {
  const unit = 10n ** BigInt(decimals)
  return use === 'multiply' ? { times: rate, over: unit } : { times: unit, over: rate }
}

function roundUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}
