/** The difference between a store and the service, counted whole and shown in part. @module */
import type { Payment } from '../payment.js'

/** Payments of one kind. */
export interface Findings<Sample> {
  /** All of them. */
  readonly count: number
  /** The first of them, as many as the option `samples` asked for. */
  readonly samples: readonly Sample[]
  /** How many are not among the samples. */
  readonly omitted: number
}

/** A payment that the service had and the store had not. */
export type MissingPayment = Pick<Payment, 'chainId' | 'txHash' | 'version'>

/** A payment of which the store had an older version. */
export interface StalePayment extends MissingPayment {
  /** What the store had. `version` is what the service has. */
  readonly storedVersion: number
}

/** A payment that is still missing or stale, because the handler threw. */
export interface FailedPayment extends MissingPayment {
  /** What the handler threw. */
  readonly error: unknown
}

/** A payment that the store has and the service, as far as it could be asked, has not. */
export interface UnknownPayment extends Pick<Payment, 'chainId' | 'txHash'> {
  /**
   * `not_found`: the service has no such payment for the integration. `other_chain`: it has the hash, on another chain. `ambiguous`: it has the hash on several
   * chains, and the walk did not come across this one; the service may have it all the same, where it moved past the walk. `unreadable`: the look-up failed, so
   * that nothing is known of it: the service answered with an error or with what is no payment, or did not answer three times in a row before this one.
   */
  readonly reason: 'not_found' | 'other_chain' | 'ambiguous' | 'unreadable'
}

/**
 * A transaction that holds several payments, of which the read API shows one. The others may name this integration,
 * another one or none: the legacy API does not say, so compare the memos with your orders.
 */
export interface SeveralPayments extends Pick<Payment, 'chainId' | 'txHash'> {
  /** Payments in the transaction, of any integration; 2 or more. */
  readonly payments: number
  /**
   * Their memos, in the order of the legacy look-up; the first 100. One of them is that of the payment that the read
   * API shows.
   */
  readonly memos: readonly string[]
}

/**
 * A transaction whose look-up failed, or was not made because those before it failed: nothing is known of further
 * payments in it.
 */
export interface UnreadTransaction extends Pick<Payment, 'chainId' | 'txHash'> {
  /** What the look-up threw, or the last one before it. */
  readonly error: unknown
}

/** Counts everything and keeps the first few. */
export interface Collector<Sample> {
  add(sample: Sample): void
  readonly count: number
  found(): Findings<Sample>
}

/** @param limit - How many are kept. */
export function collector<Sample>(limit: number): Collector<Sample> {
  const samples: Sample[] = []
  let count = 0
  return {
    add(sample) {
      count += 1
      if (samples.length < limit) samples.push(sample)
    },
    get count() {
      return count
    },
    found: () => ({ count, samples: [...samples], omitted: count - samples.length }),
  }
}
