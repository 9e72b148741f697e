/**
 * Collects failed payments and look-ups for the next run. Source: docs/interface.md 4.1, 7.
 * @module
 */
import { AmbiguousPaymentError, InvalidResponseError, PaymentNotFoundError } from '../errors.js'
import type { Payment, PaymentReader } from '../payments.js'
import { pickEarliest, type StoredFailure } from './checkpoint.js'

/** Looking up more failures would cost more than reading the pages. */
const maxFailures = 100

export type PaymentKey = Pick<Payment, 'chainId' | 'txHash'>

export type Failures = ReturnType<typeof createFailures>

/** Holds the failures that a checkpoint stored, and those of a run. */
export function createFailures(stored: readonly StoredFailure[]) {
  const failureByKey = new Map(stored.map((each) => [formatKey(each), each]))
  const versions = new Map<string, number | undefined>()
  let overflowedAt: string | null = null
  return {
    add(payment: StoredFailure & { readonly version?: number }): void {
      const { chainId, txHash, blockTimestamp } = payment
      const key = formatKey(payment)
      if (failureByKey.has(key) || failureByKey.size < maxFailures) {
        failureByKey.set(key, { chainId, txHash, blockTimestamp })
        versions.set(key, payment.version)
      } else overflowedAt = pickEarliest(overflowedAt, blockTimestamp)
    },
    drop: (key: PaymentKey) => void failureByKey.delete(formatKey(key)),
    /** Whether this version was added in this run. */
    hasFailed: (payment: Payment) => versions.get(formatKey(payment)) === payment.version,
    /** The failures that the checkpoint keeps. */
    list: () => [...failureByKey.values()],
    /** Oldest block time of a payment that the full list left out; null when none. */
    overflowedAt: () => overflowedAt,
  }
}

/**
 * Looks up earlier failures, one at a time, and passes those found to `compare`. Drops those that are gone.
 * @returns Oldest block time of a payment that only its page can show, such as an ambiguous hash; null when none.
 * @throws Errors of a look-up and of `compare`.
 */
export async function retryFailures(
  failures: Failures,
  reader: PaymentReader,
  compare: (payment: Payment) => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  let unreadAt: string | null = null
  for (const failure of failures.list()) {
    const payment = await reader.get(failure.txHash, { signal }).catch((error: unknown) => {
      if (error instanceof AmbiguousPaymentError || error instanceof InvalidResponseError)
        unreadAt = pickEarliest(unreadAt, failure.blockTimestamp)
      else if (!(error instanceof PaymentNotFoundError)) throw error
      return null
    })
    if (payment?.chainId === failure.chainId) await compare(payment)
    else failures.drop(failure)
  }
  return unreadAt
}

export function formatKey({ chainId, txHash }: PaymentKey): string {
  return `${chainId}:${txHash}`
}
