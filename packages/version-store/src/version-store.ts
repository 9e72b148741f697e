/**
 * The port of a version store, the order of versions, and the checks of keys that all adapters call.
 * Source: docs/interface.md 2.3 (fields), 6 (identity of a snapshot, receiver obligations).
 * @module
 */

/**
 * Identifies the payment of a version. It includes the integration, because one endpoint may serve several, and one
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

/** The work of one version. Its writes through `tx` are committed together with the version, or not at all. */
export type Effect<Tx> = (tx: Tx) => void | Promise<void>

/**
 * Remembers the newest handled version of each payment.
 *
 * Every adapter guarantees, and the suite at `./conformance` checks:
 * 1. `advance` compares and stores in one step. However many copies of a version arrive, at most one effect is
 * committed.
 * 2. The committed versions of a payment only rise.
 * 3. When the effect throws, nothing is stored, its error is thrown, and the version can be handled again.
 * 4. Payments are independent of each other.
 *
 * An effect must not call `advance` or `current` of its own store: it would wait for itself. Let it read through `tx`.
 */
export interface VersionStore<Tx> {
  /**
   * Runs the effect and stores the version, if it is greater than the stored one. `duplicate` and `stale` run nothing.
   * An error of the effect passes through.
   * @throws {TypeError | RangeError} When the payment or the version has no usable form.
   */
  advance(payment: VersionedPayment, effect: Effect<Tx>): Promise<VersionDecision>
  /** The stored version, `undefined` when the payment is new. Never one whose effect is still running. */
  current(key: PaymentKey): Promise<number | undefined>
}

/**
 * A store that can list its payments, as each adapter of this package can. `reconcile` of
 * `@payment-integration/client` then finds the payments that the service does not have.
 */
export interface ListingVersionStore<Tx> extends VersionStore<Tx> {
  /**
   * Lists every payment of an integration that has a version, in any order, with addresses and hashes in lower case. It
   * reads in pages and locks nothing in between: a payment that is new since the listing began may be missing. SQLite
   * and PostgreSQL list each payment once. Redis (SCAN) may list one twice. On a cluster it may miss a payment whose
   * slot moves meanwhile. An effect must not list its own store.
   * @throws {TypeError} At the first `next()`, when the address is empty or not a string.
   */
  list(integrationAddress: string): AsyncIterable<PaymentKey>
}

/** The decision about a snapshot: apply it, or drop it as a duplicate or as superseded. */
export type VersionDecision = 'apply' | 'duplicate' | 'stale'

/**
 * Compares an incoming version with the stored one; `undefined` stands for a new payment.
 * @example
 * import { decideVersion } from '@payment-integration/version-store'
 * decideVersion(3, 2) // 'stale'
 */
export function decideVersion(stored: number | undefined, incoming: number): VersionDecision {
  if (stored === undefined || incoming > stored) return 'apply'
  return incoming === stored ? 'duplicate' : 'stale'
}

/**
 * Returns the key with its address and its hash in lower case, for an adapter of your own.
 * @throws {TypeError} When a part is missing, empty or not a string: such payments would share one version.
 */
export function normalizeKey({ integrationAddress, chainId, txHash }: PaymentKey): PaymentKey {
  for (const [name, value] of Object.entries({ integrationAddress, chainId, txHash }))
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`${name} is ${value === '' ? 'empty' : typeof value}; pass a non-empty string.`)
  return { integrationAddress: integrationAddress.toLowerCase(), chainId, txHash: txHash.toLowerCase() }
}

/** The parts of a key, in the order of the tables' primary key. */
export type KeyParts = readonly [integrationAddress: string, chainId: string, txHash: string]

/** The parts of {@link normalizeKey}, whose fields have the order of the primary key. */
export const toKeyParts = (key: PaymentKey): KeyParts => Object.values(normalizeKey(key)) as unknown as KeyParts

/** An integration's address in lower case. @throws {TypeError} When it is empty or no string. */
export function normalizeIntegration(integrationAddress: string): string {
  return normalizeKey({ integrationAddress, chainId: '*', txHash: '*' }).integrationAddress
}

/** Checks a version, for an adapter of your own. @throws {RangeError} When it is not a safe whole number, 1 or more. */
export function checkVersion({ version }: VersionedPayment): number {
  if (Number.isSafeInteger(version) && version >= 1) return version
  throw new RangeError(`version is ${String(version)}; pass a whole number, 1 or more.`)
}
