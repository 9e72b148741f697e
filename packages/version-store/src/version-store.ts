/** The port: what the receiving pipeline needs from a database. Source: INTERFACE 6, receiver obligations. @module */
import type { VersionDecision } from './decide-version.js'

/**
 * Which payment a version belongs to. The integration is part of it, because one endpoint may serve several integrations and one
 * transaction may hold a payment of each. Addresses and hashes compare without case.
 */
export interface PaymentKey {
  readonly integrationAddress: string
  /** Destination chain, decimal string. */
  readonly chainId: string
  /** Destination transaction. */
  readonly txHash: string
}

/** A payment at a version; every snapshot is one. */
export interface VersionedPayment extends PaymentKey {
  /** 1, 2, 3, … up to the largest safe integer. */
  readonly version: number
}

/** The work of one version. It writes through `tx`, so that its writes and the version are kept together or not at all. */
export type Effect<Tx> = (tx: Tx) => void | Promise<void>

/**
 * Remembers the newest handled version of each payment.
 *
 * Every adapter guarantees, and the suite at `./conformance` checks:
 * 1. `advance` compares and stores in one step. Of any copies of a version, at any time, one at most has its effect kept.
 * 2. A kept effect's version is greater than each version kept before it for that payment.
 * 3. When the effect throws, nothing is stored, the same error comes out, and the version can be tried again.
 * 4. Payments do not touch each other.
 *
 * An effect must not call `advance` or `current` of its own store: it would wait for itself. It reads through `tx`.
 */
export interface VersionStore<Tx> {
  /**
   * Runs the effect and stores the version, if it is greater than the stored one. `duplicate` and `stale` run nothing.
   * @throws {TypeError | RangeError} When the payment or the version has no usable form. @throws What the effect throws.
   */
  advance(payment: VersionedPayment, effect: Effect<Tx>): Promise<VersionDecision>
  /** The stored version, `undefined` when the payment is new. Never one whose effect is still running. */
  current(key: PaymentKey): Promise<number | undefined>
}

/**
 * A store that can also say what it holds. Each adapter of this package is one; `reconcile` of `@payment-integration/client` then finds the
 * payments that the service does not have.
 */
export interface ListingVersionStore<Tx> extends VersionStore<Tx> {
  /**
   * Every payment of an integration that has a version, in any order, addresses and hashes in lower case. Read in pages, so that nothing is
   * locked or held between two of them: a payment that is new since the listing began may be in it or not. The stores on SQLite and
   * PostgreSQL have each payment once. Redis (SCAN) may have one twice, and on a cluster miss one whose slot moves to another node meanwhile.
   * An effect must not list its own store.
   * @throws {TypeError} When the address is empty or no string, as the first payment is asked for.
   */
  list(integrationAddress: string): AsyncIterable<PaymentKey>
}
