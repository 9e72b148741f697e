/** Decides several updates in one transaction, each on the changes of those before it. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { ServiceEvent } from '../events.js'
import type { StatusChange } from '../payments/emit-snapshot.js'
import type { StoredPayment } from '../payments/record.js'
import type { PaymentSelector } from '../ports/store-transaction.js'
import { decideUpdate, type UpdateDecision } from './settle-update.js'

/** The transactions of updates, each once. */
export function selectorsOf(updates: readonly ProcessorUpdate[]): PaymentSelector[] {
  const selectors = updates.map(({ chainId, txHash }) => ({ chainId: Number(chainId), txHash }))
  return [...new Map(selectors.map((selector) => [keyOf(selector), selector])).values()]
}

/** Decisions on some locked payments. */
export interface Decisions {
  /** Whether a transaction has one of the payments. */
  has(transaction: PaymentSelector): boolean
  /** Decides the next update. @throws TypeError When its transaction has none of the payments. */
  decide(update: ProcessorUpdate): UpdateDecision['result']
  /** The changes of the updates that were applied, in order. */
  readonly changes: readonly StatusChange[]
  /** To publish once the changes are durable, in order. */
  readonly events: ServiceEvent[]
}

/** @param payments - Those of `paymentsForChange` for {@link selectorsOf} the updates. */
export function decideInOrder(payments: readonly StoredPayment[]): Decisions {
  const byTransaction = new Map<string, StoredPayment[]>()
  for (const payment of payments) {
    const key = keyOf(payment)
    const own = byTransaction.get(key)
    if (own === undefined) byTransaction.set(key, [payment])
    else own.push(payment)
  }
  const changes: StatusChange[] = []
  const events: ServiceEvent[] = []
  return {
    changes,
    events,
    has: (transaction) => byTransaction.has(keyOf(transaction)),
    decide(update) {
      const own = byTransaction.get(keyOf(update)) ?? []
      const decided = decideUpdate(own, update)
      events.push(...decided.events)
      const { change, result } = decided
      if (change !== null) {
        changes.push(change)
        own[own.indexOf(change.payment)] = { ...change.payment, ...change.status }
      }
      return result
    },
  }
}

const keyOf = ({ chainId, txHash }: { readonly chainId: number | string; readonly txHash: string }) =>
  `${chainId}:${txHash}`
