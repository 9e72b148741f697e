/** Pages of an integration's payments in memory, in the order of `docs/interface.md` 4.1. @module */
import type { StoredPayment } from '../../src/payments/record.js'
import type { PagePosition, PageQuery, PaymentReads, SingleQuery } from '../../src/ports/store-reads.js'

/** A reorganisation gave a listed payment another time. */
export interface Move {
  readonly paymentId: string
  readonly integrationAddress: string | null
  /** The time before it, in unix milliseconds. */
  readonly blockTimestamp: number
}

/** The rows that pages are made of. */
export interface PageRows {
  readonly payments: ReadonlyMap<string, StoredPayment>
  /** In the order in which they happened. */
  readonly moves: readonly Move[]
}

type Key = Pick<PagePosition, 'blockTimestamp' | 'chainId' | 'txHash'>

const isListedFor = (payment: StoredPayment, { integrationAddress, wallet }: Omit<PageQuery, 'limit'>) =>
  payment.primary &&
  payment.integrationAddress === integrationAddress &&
  (wallet === undefined || payment.sender === wallet || payment.receiver === wallet)

/** Negative where `a` comes first: newest first, then by chain and hash, descending. */
const compare = (a: Key, b: Key) =>
  b.blockTimestamp - a.blockTimestamp ||
  b.chainId - a.chainId ||
  (a.txHash < b.txHash ? 1 : a.txHash > b.txHash ? -1 : 0)

/** The reads. @param rows - Asked for at every call. */
export function pageReads(rows: () => PageRows): Pick<PaymentReads, 'list' | 'findByHash'> {
  return {
    async list({ after, limit, ...scope }: PageQuery) {
      const { payments, moves } = rows()
      const own = moves.filter(({ integrationAddress }) => integrationAddress === scope.integrationAddress)
      const asOf = after?.asOf ?? own.length
      const later = own.slice(asOf)
      // A listing sees a payment at the time that it had when the listing began.
      const keyed = [...payments.values()]
        .filter((payment) => isListedFor(payment, scope))
        .map((payment) => ({
          payment,
          chainId: payment.chainId,
          txHash: payment.txHash,
          blockTimestamp: (later.find(({ paymentId }) => paymentId === payment.id) ?? payment).blockTimestamp,
        }))
        .filter((key) => after === undefined || compare(after, key) < 0)
        .sort(compare)
      const page = keyed.slice(0, limit)
      const last = page.at(-1)
      const next =
        last === undefined || keyed.length <= limit
          ? null
          : { blockTimestamp: last.blockTimestamp, chainId: last.chainId, txHash: last.txHash, asOf }
      return { payments: page.map(({ payment }) => payment), next }
    },
    async findByHash({ txHash, ...scope }: SingleQuery) {
      return [...rows().payments.values()]
        .filter((payment) => payment.txHash === txHash && isListedFor(payment, scope))
        .slice(0, 2)
    },
  }
}
