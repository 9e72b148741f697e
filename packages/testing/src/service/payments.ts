/** The payments of the service under test, with their versions. Source: INTERFACE 2.1, 3; DESIGN section 3 (version). @module */
import { type Payment, paymentWriteSchema, type Snapshot } from '@payment-integration/contract'
import { newestFirst, snapshotOf } from '../builders/payments.js'

/** What an update may change: absent leaves, null clears. */
export type PaymentChange = Partial<Pick<Payment, 'state' | 'recipient' | 'invoice'>>

/** Names a payment where a hash alone may be of two chains. */
export interface PaymentKey {
  readonly txHash: string
  readonly chainId?: string | undefined
  readonly integrationAddress?: string | undefined
}

/** Stored payments. */
export interface PaymentState {
  /** Stores a payment, or replaces the one of its integration, chain and hash. Gives the snapshot that the service would send. */
  record(payment: Payment): Snapshot
  /**
   * Changes a payment and adds 1 to its version. Gives the snapshot that the service would send.
   * @throws {RangeError} When no payment fits, or more than one does.
   */
  change(key: PaymentKey, change: PaymentChange): Snapshot
  /** Takes a payment away, as if the service had never seen it. @throws {RangeError} As `change`. */
  forget(key: PaymentKey): void
  /** Of one integration, newest first. */
  of(integration: string): Payment[]
  /** Every payment, newest first. */
  all(): Payment[]
}

/** Makes an empty one. */
export function createPaymentState(): PaymentState {
  const payments = new Map<string, Payment>()
  const nameOf = ({ integrationAddress, chainId, txHash }: Payment) => `${integrationAddress} ${chainId} ${txHash}`
  const store = (payment: Payment): Snapshot => {
    const checked = paymentWriteSchema.parse(payment)
    payments.set(nameOf(checked), checked)
    return snapshotOf(checked)
  }
  const find = ({ txHash, chainId, integrationAddress }: PaymentKey): Payment => {
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
    record: store,
    change(key, change) {
      const before = find(key)
      return store({ ...before, ...change, version: before.version + 1 })
    },
    forget: (key) => void payments.delete(nameOf(find(key))),
    of: (integration) => all().filter(({ integrationAddress }) => integrationAddress === integration),
    all,
  }
}
