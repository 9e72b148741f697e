/**
 * Compares payments with the store and counts the results. Source: docs/interface.md 6 (receiver obligations).
 * @module
 */
import { AbortedError } from '../errors.js'
import type { Payment } from '../payments.js'
import type { Failures } from './failures.js'
import type { FailedPayment, MissingPayment, StalePayment } from './findings.js'
import { createFindingList } from './findings.js'
import type { CheckedReconcile, ReconcileProgress } from './options.js'
import type { createSeveralPaymentsSearch } from './search-several-payments.js'

/** The result for a payment. `storedVersion` is the store's version before the repair, null when it had none. */
type Outcome =
  /** The store had this version already. */
  | { readonly kind: 'known' }
  /** The store had a greater version: a delivery was faster than the page. */
  | { readonly kind: 'newer' }
  /** The payment was missing or stale. The handler has processed it, except in a dry run. */
  | { readonly kind: 'repaired'; readonly storedVersion: number | null }
  /** The payment was missing or stale, and the handler threw. */
  | { readonly kind: 'failed'; readonly storedVersion: number | null; readonly error: unknown }

/**
 * Passes a missing or stale payment to the handler. The store decides again in its transaction. So a concurrent
 * delivery repeats no effect, and no older version replaces a newer one.
 * @throws The store's own error. An error of the handler becomes the result `failed`.
 */
async function comparePayment<Tx>(payment: Payment, { from, handle, dryRun }: CheckedReconcile<Tx>): Promise<Outcome> {
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

/**
 * Compares payments one at a time and counts the results.
 * @param failures - Receives each payment whose handler threw. Drops every other compared payment, except in a dry run.
 * @param severalSearch - Receives each compared payment.
 */
export function createTally<Tx>(
  options: CheckedReconcile<Tx>,
  failures: Failures,
  severalSearch: Pick<ReturnType<typeof createSeveralPaymentsSearch>, 'add'>,
) {
  const { samples, signal, dryRun } = options
  const missing = createFindingList<MissingPayment>(samples)
  const stale = createFindingList<StalePayment>(samples)
  const failed = createFindingList<FailedPayment>(samples)
  let compared = 0
  let newer = 0
  const repaired = () => (dryRun ? 0 : missing.count + stale.count - failed.count)

  return {
    /**
     * Whether the payment needed no repair, or failed in this run already.
     * @throws The store's own error, and {@link AbortedError} `ERR_ABORTED`.
     */
    async compare(payment: Payment): Promise<boolean> {
      if (signal?.aborted) throw new AbortedError()
      // The handler threw for this version already in this run, so it is not called again.
      if (failures.hasFailed(payment)) return true
      const outcome = await comparePayment(payment, options)
      severalSearch.add(payment)
      compared += 1
      if (outcome.kind === 'newer') newer += 1
      if (outcome.kind !== 'failed' && !dryRun) failures.drop(payment)
      if (outcome.kind === 'known' || outcome.kind === 'newer') return true
      const { chainId, txHash, version } = payment
      const { storedVersion } = outcome
      if (storedVersion === null) missing.add({ chainId, txHash, version })
      else stale.add({ chainId, txHash, version, storedVersion })
      if (outcome.kind === 'failed') {
        failed.add({ chainId, txHash, version, error: outcome.error })
        failures.add(payment)
      }
      return false
    },
    progress: (pages: number): ReconcileProgress => ({ pages, compared, repaired: repaired(), failed: failed.count }),
    findings: () => ({
      compared,
      repaired: repaired(),
      missing: missing.summarize(),
      stale: stale.summarize(),
      failed: failed.summarize(),
      newer,
    }),
  }
}
