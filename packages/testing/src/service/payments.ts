/**
 * The payments of the service under test, with their versions. Source: docs/interface.md 2.1, 3;
 * docs/decisions/version.md.
 * @module
 */
import { type PaymentBody, paymentWriteSchema, type SnapshotBody } from '@payment-integration/contract'
import { newestFirst, snapshotOf } from '../builders/payments.js'
import { mayFollow } from './transitions.js'

/** A change of a payment: an absent field stays, null clears it. */
export type PaymentChange = Partial<Pick<PaymentBody, 'state' | 'recipient' | 'invoice'>>

/** Names a payment; the hash alone may exist on two chains. */
export interface TestPaymentKey {
  readonly txHash: string
  readonly chainId?: string | undefined
  readonly integrationAddress?: string | undefined
}

/** Options of a change. */
export interface ChangeOptions {
  /**
   * Whether to force a transition that the service refuses, for tests of impossible states.
   * @default false
   */
  readonly force?: boolean | undefined
}

/** Stored payments. */
export interface TestPayments {
  /**
   * Stores a payment, or replaces the one of its integration, chain and hash. Returns the snapshot that the service
   * would send.
   *
   * @throws {RangeError} When the stored one has a higher version: versions never decrease.
   */
  record(payment: PaymentBody): SnapshotBody
  /**
   * Changes a payment and adds 1 to its version. Returns the snapshot that the service would send. An empty change
   * makes no version and returns the stored snapshot.
   *
   * @throws {RangeError} When not exactly one payment matches, or the service would refuse the transition of the state.
   */
  change(key: TestPaymentKey, change: PaymentChange, options?: ChangeOptions): SnapshotBody
  /** Deletes a payment, as if the service had never indexed it. @throws {RangeError} As `change`. */
  forget(key: TestPaymentKey): void
  /** Payments of one integration, newest first. */
  of(integration: string): PaymentBody[]
  /** Every payment, newest first. */
  all(): PaymentBody[]
}

/** Makes an empty one. */
export function createTestPayments(): TestPayments {
  const payments = new Map<string, PaymentBody>()
  const nameOf = ({ integrationAddress, chainId, txHash }: PaymentBody) => `${integrationAddress} ${chainId} ${txHash}`
  const store = (checked: PaymentBody): SnapshotBody => {
    payments.set(nameOf(checked), checked)
    return snapshotOf(checked)
  }
  const find = ({ txHash, chainId, integrationAddress }: TestPaymentKey): PaymentBody => {
    const found = [...payments.values()].filter(
      (payment) =>
        payment.txHash === txHash.toLowerCase() &&
        (chainId === undefined || payment.chainId === chainId) &&
        (integrationAddress === undefined || payment.integrationAddress === integrationAddress.toLowerCase()),
    )
    const [payment] = found
    if (payment === undefined || found.length > 1)
      throw new RangeError(`${found.length} payments fit ${txHash}; name one that was recorded.`)
    return payment
  }
  const all = () => [...payments.values()].toSorted(newestFirst)
  return {
    record(payment) {
      const checked = paymentWriteSchema.parse(payment)
      const stored = payments.get(nameOf(checked))?.version ?? 0
      if (checked.version < stored)
        throw new RangeError(`${checked.txHash} has version ${stored}, ${checked.version} is lower; forget it first.`)
      return store(checked)
    },
    change(key, change, { force = false } = {}) {
      const before = find(key)
      const after = paymentWriteSchema.parse({ ...before, ...change })
      // The schema orders the fields of every object, so equal objects have equal JSON.
      if (JSON.stringify(after) === JSON.stringify(before)) return snapshotOf(before)
      if (!force && !mayFollow(before.state, after.state))
        throw new RangeError(
          `The service refuses to go from ${before.state} to ${after.state}; pass { force: true } to do it all the same.`,
        )
      return store({ ...after, version: before.version + 1 })
    },
    forget: (key) => void payments.delete(nameOf(find(key))),
    of: (integration) => all().filter(({ integrationAddress }) => integrationAddress === integration),
    all,
  }
}
