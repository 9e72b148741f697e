/** Counts the findings of a run. @module */
import { AbortedError } from '../errors.js'
import type { Payment } from '../payment.js'
import { comparePayment } from './compare.js'
import type { Failures } from './failures.js'
import { collector, type FailedPayment, type MissingPayment, type StalePayment } from './findings.js'
import type { CheckedReconcile, ReconcileProgress } from './options.js'
import type { Reconciliation } from './result.js'
import type { SeveralSearch } from './several.js'

/** Compares payments one at a time and counts the results. */
export interface Tally {
  /**
   * Whether the payment needed no repair, or failed in this run already.
   * @throws The store's own error, and {@link AbortedError} `ERR_ABORTED`.
   */
  compare(payment: Payment): Promise<boolean>
  progress(pages: number): ReconcileProgress
  findings(): Pick<Reconciliation, 'compared' | 'repaired' | 'missing' | 'stale' | 'failed' | 'newer'>
}

/**
 * @param failures - Receives each payment whose handler threw, and drops each repaired one.
 * @param several - Receives each compared payment.
 */
export function createTally<Tx>(
  options: CheckedReconcile<Tx>,
  failures: Failures,
  several: Pick<SeveralSearch, 'add'>,
): Tally {
  const { samples, signal, dryRun } = options
  const missing = collector<MissingPayment>(samples)
  const stale = collector<StalePayment>(samples)
  const failed = collector<FailedPayment>(samples)
  let compared = 0
  let newer = 0
  const repaired = () => (dryRun ? 0 : missing.count + stale.count - failed.count)

  return {
    async compare(payment) {
      if (signal?.aborted) throw new AbortedError()
      // The handler threw for this version already in this run, so it is not called again.
      if (failures.hasFailed(payment)) return true
      const found = await comparePayment(payment, options)
      several.add(payment)
      compared += 1
      if (found.kind === 'newer') newer += 1
      if (found.kind !== 'failed' && !dryRun) failures.drop(payment)
      if (found.kind === 'known' || found.kind === 'newer') return true
      const { chainId, txHash, version } = payment
      const { storedVersion } = found
      if (storedVersion === null) missing.add({ chainId, txHash, version })
      else stale.add({ chainId, txHash, version, storedVersion })
      if (found.kind === 'failed') {
        failed.add({ chainId, txHash, version, error: found.error })
        failures.add(payment)
      }
      return false
    },
    progress: (pages) => ({ pages, compared, repaired: repaired(), failed: failed.count }),
    findings: () => ({
      compared,
      repaired: repaired(),
      missing: missing.found(),
      stale: stale.found(),
      failed: failed.found(),
      newer,
    }),
  }
}
