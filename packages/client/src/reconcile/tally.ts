/** What a run has found so far. @module */
import { AbortedError } from '../errors.js'
import type { Payment } from '../payment.js'
import { earlier } from './checkpoint.js'
import { comparePayment } from './compare.js'
import { collector, type FailedPayment, type MissingPayment, type StalePayment } from './findings.js'
import type { CheckedReconcile, ReconcileProgress } from './options.js'
import type { Reconciliation } from './result.js'

/** Compares payments, one after the other, and counts. */
export interface Tally {
  /** Whether the payment was as it should be. @throws What the store throws, and ERR_ABORTED. */
  compare(payment: Payment): Promise<boolean>
  /** Block time of the oldest payment whose handler threw; null when none did. */
  failedAt(): string | null
  progress(pages: number): ReconcileProgress
  findings(): Pick<Reconciliation, 'compared' | 'repaired' | 'missing' | 'stale' | 'failed' | 'newer'>
}

/** @param failedBefore - What `failedAt` was when the run stopped that this one goes on with. */
export function createTally<Tx>(options: CheckedReconcile<Tx>, failedBefore: string | null): Tally {
  const { samples, signal, dryRun } = options
  const missing = collector<MissingPayment>(samples)
  const stale = collector<StalePayment>(samples)
  const failed = collector<FailedPayment>(samples)
  let compared = 0
  let newer = 0
  let failedAt = failedBefore
  const repaired = () => (dryRun ? 0 : missing.count + stale.count - failed.count)

  return {
    async compare(payment) {
      if (signal?.aborted) throw new AbortedError()
      const found = await comparePayment(payment, options)
      compared += 1
      if (found.kind === 'newer') newer += 1
      if (found.kind === 'known' || found.kind === 'newer') return true
      const { chainId, txHash, version, blockTimestamp } = payment
      const { storedVersion } = found
      if (storedVersion === null) missing.add({ chainId, txHash, version })
      else stale.add({ chainId, txHash, version, storedVersion })
      if (found.kind === 'failed') {
        failed.add({ chainId, txHash, version, error: found.error })
        failedAt = failedAt === null ? blockTimestamp : earlier(failedAt, blockTimestamp)
      }
      return false
    },
    failedAt: () => failedAt,
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
