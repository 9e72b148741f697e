/** A lease in the store: one process at a time does the work that the lease names. @module */
import type { LeaseStore } from '../indexer/chain-store.js'
import type { Clock } from '../ports/runtime.js'

/** Renewals in the duration of a lease: after one failed renewal the process still has it. */
const renewalsPerLease = 3
/** Time between two reports of another holder, in milliseconds. */
const reportEveryMs = 60_000

export interface LeaseDeps {
  readonly leases: LeaseStore
  readonly clock: Clock
  readonly name: string
  /** Unique among all processes that want the lease. */
  readonly holder: string
  /** Duration without a renewal, in milliseconds. */
  readonly ttlMs: number
  /** Called at most once a minute while another process has the lease. @default nothing */
  readonly onOtherHolder?: ((other: { readonly holder: string; readonly endsInMs: number }) => void) | undefined
}

/** The lease's time counts from before the store's call, so the lease ends here before it ends in the store. */
export function createLease({ leases, clock, name, holder, ttlMs, onOtherHolder }: LeaseDeps) {
  const renewMs = Math.floor(ttlMs / renewalsPerLease)
  let renewedAt: number | null = null
  let reportedAt = Number.NEGATIVE_INFINITY
  /** Milliseconds since the last renewal. After the clock was set back, the lease must be acquired again. */
  function computeAgeMs(): number {
    const ms = renewedAt === null ? -1 : clock.now() - renewedAt
    return ms < 0 ? Number.POSITIVE_INFINITY : ms
  }

  async function acquire(): Promise<boolean> {
    const requestedAt = clock.now()
    const isAcquired = await leases.acquire({ name, holder, ttlMs })
    renewedAt = isAcquired ? requestedAt : null
    if (!isAcquired) await reportOther()
    return isAcquired
  }

  async function reportOther(): Promise<void> {
    const sinceReportMs = clock.now() - reportedAt
    if (onOtherHolder === undefined || (sinceReportMs >= 0 && sinceReportMs < reportEveryMs)) return
    reportedAt = clock.now()
    const other = (await leases.list()).find((lease) => lease.name === name)
    if (other !== undefined) onOtherHolder(other)
  }

  return {
    /** Whether this process has the lease, by its own clock. */
    isActive: () => computeAgeMs() < ttlMs,
    /** Acquires the lease, or renews it when due; false: another process has it. Rejects with the store's errors. */
    ensure: async () => computeAgeMs() < renewMs || (await acquire()),
    /** Renews the lease until the signal aborts. Never rejects: the next `ensure` rejects if the store still fails. */
    async renew(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await clock.sleep(renewMs, signal)
        if (renewedAt !== null && !signal.aborted) await acquire().catch(() => undefined)
      }
    },
    /** Releases the lease when this process has it. */
    async release(): Promise<void> {
      if (renewedAt === null) return
      renewedAt = null
      await leases.release({ name, holder })
    },
  }
}
