/** Plans a demo payment and its processor updates. @module */

/** An update of a payment, without its identifiers. */
export interface PlannedUpdate {
  readonly state: 'pending' | 'success' | 'refund_pending' | 'refund_success'
  readonly recipient?: { readonly title: string; readonly subtitle: string | null }
  readonly invoice?: {
    readonly amount: string
    readonly currency: string
    readonly settlementAmount: string
    readonly settlementCurrency: string
  }
}

/** A demo payment before it is made. */
export interface PaymentPlan {
  /** 1 for the first payment of the run. */
  readonly number: number
  /** Reference written into the payment, at most 31 ASCII characters. */
  readonly memo: string
  /** Hundredths of the settlement token. */
  readonly settlementCents: number
  /** The same as a decimal string. */
  readonly settlementAmount: string
  /** Invoice amount with its currency: `25.00 EUR`. */
  readonly price: string
  /** In the order of the processor. */
  readonly updates: readonly PlannedUpdate[]
}

const merchants = [
  { title: 'Blue Door Coffee', subtitle: 'Lisbon' },
  { title: 'Harbour Books', subtitle: null },
  { title: 'Night Train Tickets', subtitle: 'Vienna to Rome' },
  { title: 'Green Fork', subtitle: 'Lunch menu' },
] as const
const refundShare = 0.25
/** Settlement cents per hundred invoice cents. */
const usdPerHundredEur = 108

/** Plans a payment: 1.00 to 120.00 EUR, a merchant, and a refund for about every fourth. */
export function planPayment(number: number, fraction: Fraction): PaymentPlan {
  const cents = 100 + Math.floor(fraction() * 11_901)
  const merchant = merchants[Math.floor(fraction() * merchants.length)] ?? merchants[0]
  const refunded = fraction() < refundShare
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
    memo: `order-${number}`,
    settlementCents,
    settlementAmount: invoice.settlementAmount,
    price: `${invoice.amount} ${invoice.currency}`,
    updates: refunded ? [...paid, ...refund] : paid,
  }
}

/** Hundredths as a decimal string. */
function decimal(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
}

/** Returns the next number in [0, 1). */
export type Fraction = () => number

/** Creates a repeatable sequence (mulberry32) for the demo. The same seed gives the same numbers. Not for secrets. */
export function seededFraction(seed: number): Fraction {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
