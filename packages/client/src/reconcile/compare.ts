/** One payment of the service against the store. Source: docs/interface.md 6 (receiver obligations). @module */
import type { Payment } from '../payment.js'
import type { ReconcileStore } from './store.js'

/** What became of a payment. `storedVersion` is what the store had before, null when it had nothing. */
export type Compared =
  /** The store had this version already. */
  | { readonly kind: 'known' }
  /** The store had a greater one: a delivery overtook the page. */
  | { readonly kind: 'newer' }
  /** It was missing or stale, and is handled now; in a dry run it still is. */
  | { readonly kind: 'repaired'; readonly storedVersion: number | null }
  /** It was missing or stale, and the handler threw. */
  | { readonly kind: 'failed'; readonly storedVersion: number | null; readonly error: unknown }

/** How a payment is brought in. */
export interface Repair<Tx> {
  readonly from: ReconcileStore<Tx>
  readonly handle: (payment: Payment, tx: Tx) => void | Promise<void>
  readonly dryRun: boolean
}

/**
 * Compares, and hands to the handler what the store has not. The store decides again in its transaction, so that a delivery of the same
 * moment neither repeats an effect nor is undone by an older version.
 * @throws What the store throws of itself. What the handler throws is part of the answer.
 */
export async function comparePayment<Tx>(payment: Payment, { from, handle, dryRun }: Repair<Tx>): Promise<Compared> {
  const storedVersion = (await from.current(payment)) ?? null
  if (storedVersion === payment.version) return { kind: 'known' }
  if (storedVersion !== null && storedVersion > payment.version) return { kind: 'newer' }
  if (dryRun) return { kind: 'repaired', storedVersion }
  let thrown: { readonly error: unknown } | null = null
  const fail = (error: unknown): never => {
    thrown = { error }
    throw error
  }
  /** Returns a promise only where the handler does: a store may keep others out of a transaction that waits for nothing. */
  const effect = (tx: Tx): void | Promise<void> => {
    try {
      const pending = handle(payment, tx)
      return pending === undefined ? undefined : Promise.resolve(pending).catch(fail)
    } catch (error) {
      return fail(error)
    }
  }
  try {
    const decision = await from.advance(payment, effect)
    if (decision === 'apply') return { kind: 'repaired', storedVersion }
    return { kind: decision === 'duplicate' ? 'known' : 'newer' }
  } catch (error) {
    const failed = thrown as { readonly error: unknown } | null
    if (failed === null) throw error
    return { kind: 'failed', storedVersion, error: failed.error }
  }
}
