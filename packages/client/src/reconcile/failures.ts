/**
 * Keeps payments whose handler threw or whose look-up failed, for the next run. Source: docs/interface.md 4.1, 7.
 * @module
 */
import { AmbiguousPaymentError, InvalidResponseError, NotFoundError } from '../errors.js'
import type { Payment } from '../payment.js'
import type { PaymentReader } from '../payments.js'
import { earliest, type KeptFailure } from './checkpoint.js'

/** More of them, and looking each up would cost more than the pages. */
const keptFailures = 100

type Key = Pick<Payment, 'chainId' | 'txHash'>

/** The failures of a checkpoint, and what a run changes in them. */
export interface Failures {
  add(payment: KeptFailure & { readonly version?: number }): void
  drop(key: Key): void
  /** Whether this version was added in this run. */
  hasFailed(payment: Payment): boolean
  /** For the checkpoint. */
  kept(): readonly KeptFailure[]
  /** Block time of the oldest one that was added and found no place; null when none was. */
  overflowedAt(): string | null
}

/** @param before - Of the checkpoint. */
export function createFailures(before: readonly KeptFailure[]): Failures {
  const kept = new Map(before.map((each) => [textOf(each), each]))
  const versions = new Map<string, number | undefined>()
  let overflowedAt: string | null = null
  return {
    add(payment) {
      const { chainId, txHash, blockTimestamp } = payment
      const key = textOf(payment)
      if (kept.has(key) || kept.size < keptFailures) {
        kept.set(key, { chainId, txHash, blockTimestamp })
        versions.set(key, payment.version)
      } else overflowedAt = earliest(overflowedAt, blockTimestamp)
    },
    drop: (key) => void kept.delete(textOf(key)),
    hasFailed: (payment) => versions.get(textOf(payment)) === payment.version,
    kept: () => [...kept.values()],
    overflowedAt: () => overflowedAt,
  }
}

/**
 * Looks up what failed before, one after the other, and hands what is there to `compare`. What the service has no more is given up.
 * @returns Block time of the oldest one that only its page can show, as one whose hash is on several chains; null when there is none.
 * @throws What a look-up throws, and what `compare` throws.
 */
export async function retryFailures(
  failures: Failures,
  reader: PaymentReader,
  compare: (payment: Payment) => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  let unreadAt: string | null = null
  for (const failure of failures.kept()) {
    const found = await reader.get(failure.txHash, { signal }).catch((error: unknown) => {
      if (error instanceof AmbiguousPaymentError || error instanceof InvalidResponseError)
        unreadAt = earliest(unreadAt, failure.blockTimestamp)
      else if (!(error instanceof NotFoundError)) throw error
      return null
    })
    if (found?.chainId === failure.chainId) await compare(found)
    else failures.drop(failure)
  }
  return unreadAt
}

/** Names a payment in a map or a set. */
export function textOf({ chainId, txHash }: Key): string {
  return `${chainId}:${txHash}`
}
