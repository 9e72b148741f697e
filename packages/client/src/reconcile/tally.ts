/** What a run has found so far. @module */
import { AbortedError } from '../errors.js'
import type { Payment } from '../payment.js'
import { comparePayment } from './compare.js'
import type { Failures } from './failures.js'
import { collector, type FailedPayment, type MissingPayment, type StalePayment } from './findings.js'
import type { CheckedReconcile, ReconcileProgress } from './options.js'
import type { Reconciliation } from './result.js'
import type { SeveralSearch } from './several.js'

/** Compares payments, one after the other, and counts. */
export interface Tally {
  /** Whether the payment was as it should be, or has failed in this run already. @throws What the store throws, and ERR_ABORTED. */
  compare(payment: Payment): Promise<boolean>
  progress(pages: number): ReconcileProgress
  findings(): Pick<Reconciliation, 'compared' | 'repaired' | 'missing' | 'stale' | 'failed' | 'newer'>
}

/**
 * @param failures - Gets each payment whose handler threw, and drops each that is as it should be.
 * @param several - Gets each payment that is compared.
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
      // A handler that threw a moment ago, for a look-up or on a page before, is not asked again.
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
