/** The receiving pipeline: verify, compare, handle once. Source: INTERFACE 6, receiver obligations. @module */
import type { VersionDecision } from './decide-version.js'
import type { VersionedPayment, VersionStore } from './version-store.js'

/** What a receiver is made from. */
export interface ReceiverOptions<Delivery, Verified extends { readonly snapshot: VersionedPayment }, Tx> {
  /** Refuses what the service did not sign, by throwing; `verify` of `createVerifier` in `@payment-integration/webhook` fits. */
  readonly verify: (delivery: Delivery) => Promise<Verified> | Verified
  /** Where handled versions are kept. */
  readonly store: VersionStore<Tx>
  /**
   * Your effect, once per version. Write through `tx`: it is kept together with the version, or not at all.
   *
   * Return for a payment that is not yours: a stranger can name your integration's address in one, and an endpoint that answers 5xx to
   * payments that will never be its own is blocked at the service, also for those that are. Where its order may come after it, keep the
   * payment through `tx` and match it when the order comes. Throw only for what you expect within the service's next attempts (your
   * database is away, the order is being written): nothing is stored, and the service sends again after your 5xx.
   *
   * The service waits 5 seconds for an answer, so hand slow work to a queue that you fill through `tx`.
   */
  readonly handle: (snapshot: Verified['snapshot'], tx: Tx) => void | Promise<void>
}

/** What became of a delivery: answer 2xx for each decision, because a repeated or overtaken delivery needs no other try. */
export type Received<Verified> = Verified & {
  /** `apply`: handled now. `duplicate`: handled before. `stale`: a greater version was handled before. */
  readonly decision: VersionDecision
}

/** Takes deliveries, and snapshots from elsewhere, into one store by one handler. The functions need no `this`. */
export interface Receiver<Delivery, Verified extends { readonly snapshot: VersionedPayment }> {
  /** Verifies, compares, handles once, commits. @throws What `verify`, the store or `handle` throws; nothing is kept then. */
  receive(delivery: Delivery): Promise<Received<Verified>>
  /** The same without the signature, for a snapshot that you fetched from the read API yourself. @throws As the store or `handle`. */
  accept(snapshot: Verified['snapshot']): Promise<VersionDecision>
}

/**
 * Makes a receiver.
 * @throws {TypeError} When a part is missing.
 * @example const { receive } = createReceiver({ verify, store: createSqliteVersionStore({ database }), handle: (snapshot, tx) => save(tx, snapshot) })
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
