/** Compares one payment with the store. Source: docs/interface.md 6 (receiver obligations). @module */
import type { Payment } from '../payment.js'
import type { ReconcileStore } from './store.js'

/** The result for a payment. `storedVersion` is the version before, null when the store had none. */
export type Compared =
  /** The store had this version already. */
  | { readonly kind: 'known' }
  /** The store had a greater one: a delivery was faster than the page. */
  | { readonly kind: 'newer' }
  /** It was missing or stale. The handler has processed it, except in a dry run. */
  | { readonly kind: 'repaired'; readonly storedVersion: number | null }
  /** It was missing or stale, and the handler threw. */
  | { readonly kind: 'failed'; readonly storedVersion: number | null; readonly error: unknown }

/** Repairs a payment: the store, the handler, and whether to change anything. */
export interface Repair<Tx> {
  readonly from: ReconcileStore<Tx>
  readonly handle: (payment: Payment, tx: Tx) => void | Promise<void>
  readonly dryRun: boolean
}

/**
 * Passes a missing or stale payment to the handler. The store decides again in its transaction. So a concurrent
 * delivery repeats no effect, and no older version replaces it.
 * @throws The store's own error. An error of the handler becomes the result `failed`.
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
  /** Returns a promise only if the handler does: a store may run a synchronous effect without interruption. */
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
