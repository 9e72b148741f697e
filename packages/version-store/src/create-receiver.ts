/** The receiving pipeline: verify, compare, handle once. Source: docs/interface.md 6, receiver obligations. @module */
import type { VersionDecision, VersionedPayment, VersionStore } from './version-store.js'

/** The steps of a receiver. */
export interface ReceiverOptions<Delivery, Verified extends { readonly snapshot: VersionedPayment }, Tx> {
  /** Throws for an unsigned delivery; `verify` of `createVerifier` in `@payment-integration/webhook` fits. */
  readonly verify: (delivery: Delivery) => Promise<Verified> | Verified
  /** Where handled versions are kept. */
  readonly store: VersionStore<Tx>
  /**
   * Your effect, once per version. Write through `tx`: the store commits those writes with the version, or neither.
   *
   * Do not throw for a payment that is not yours: anyone can name your integration's address in a payment. If your
   * endpoint answers 5xx to such payments, the service blocks it for your own too. If an order may arrive after its
   * payment, store the payment through `tx` and match it when the order arrives.
   * Throw only for a failure that ends within the service's next attempts, as when your database is down. Nothing is
   * stored then, and the service retries after your 5xx.
   *
   * The service waits 5 seconds for an answer, so hand slow work to a queue that you fill through `tx`.
   */
  readonly handle: (snapshot: Verified['snapshot'], tx: Tx) => void | Promise<void>
}

/** The decision about a delivery. Answer 2xx for each: a duplicate or stale delivery needs no retry. */
export type ReceiveResult<Verified> = Verified & {
  /** `apply`: handled now. `duplicate`: handled before. `stale`: a greater version was handled before. */
  readonly decision: VersionDecision
}

/** Handles deliveries, and snapshots from the read API, by one store and one handler. The functions need no `this`. */
export interface Receiver<Delivery, Verified extends { readonly snapshot: VersionedPayment }> {
  /** Verifies, compares, handles once, commits. Errors of its steps pass through; nothing is stored then. */
  receive(delivery: Delivery): Promise<ReceiveResult<Verified>>
  /** Compares, handles once and commits a snapshot that you read from the read API, without a signature. */
  accept(snapshot: Verified['snapshot']): Promise<VersionDecision>
}

/**
 * Creates a receiver: it verifies each delivery, compares its version, and runs your handler once per version.
 * @throws {TypeError} When a step is missing. Its functions pass on errors of `verify` (such as
 * `ERR_SIGNATURE_MISMATCH`), `store` (such as `ERR_VERSION_STORE_BUSY`) and `handle`.
 * @example
 * import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
 * import { createVerifier } from '@payment-integration/webhook'
 * const { verify } = createVerifier({ secrets: process.env['WEBHOOK_SIGNING_SECRET'] ?? '' })
 * const store = createMemoryVersionStore()
 * const { receive } = createReceiver({ verify, store, handle: ({ txHash, state }) => console.log(txHash, state) })
 */
export function createReceiver<Delivery, Verified extends { readonly snapshot: VersionedPayment }, Tx>(
  options: ReceiverOptions<Delivery, Verified, Tx>,
): Receiver<Delivery, Verified> {
  const { verify, store, handle } = Object(options) as ReceiverOptions<Delivery, Verified, Tx>
  if (typeof verify !== 'function') throw new TypeError(`verify is ${typeof verify}; pass the verifier's function.`)
  if (typeof handle !== 'function') throw new TypeError(`handle is ${typeof handle}; pass your handler.`)
  if (typeof store?.advance !== 'function') throw new TypeError('store has no advance(); pass a version store.')

  const accept = (snapshot: Verified['snapshot']) => store.advance(snapshot, (tx) => handle(snapshot, tx))
  return {
    accept: async (snapshot) => accept(snapshot),
    async receive(delivery) {
      const verified = await verify(delivery)
      return { ...verified, decision: await accept(verified.snapshot) }
    },
  }
}
