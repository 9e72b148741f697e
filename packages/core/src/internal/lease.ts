/** A lease in the store: one process at a time does what it names. @module */
import type { LeaseStore } from '../ports/store-chains.js'
import type { Clock } from '../ports/world.js'

/** A lease is renewed when a third of its time is over, so that one failed renewal costs nothing. */
const renewalsPerLease = 3

/** A lease, as this process knows it. */
export interface Lease {
  /** Whether this process holds it, by its own clock. */
  held(): boolean
  /**
   * Takes it, or renews it when that is due. Resolves false while another process holds it. Rejects with the store's
   * errors.
   */
  ensure(): Promise<boolean>
  /**
   * Renews it regularly while it is held, until the signal aborts. Never rejects: the next `ensure` meets the error.
   */
  keep(signal: AbortSignal): Promise<void>
  /** Releases it when it is held. */
  release(): Promise<void>
}

/** Dependencies of a lease. */
export interface LeaseDeps {
  readonly leases: Omit<LeaseStore, 'list'>
  readonly clock: Clock
  readonly name: string
  /** Unique among all processes that want the lease. */
  readonly holder: string
  /** How long it lasts without a renewal, in milliseconds. */
  readonly ttlMs: number
}

/**
 * Builds a lease that is not held. Its time counts from before the store's call, so it ends here before it ends in the
 * store.
 */
export function createLease({ leases, clock, name, holder, ttlMs }: LeaseDeps): Lease {
  const renewMs = Math.floor(ttlMs / renewalsPerLease)
  let heldSince: number | null = null
  /** Milliseconds since the last renewal. After a clock that was set back, the lease must be acquired again. */
  function age(): number {
    const ms = heldSince === null ? -1 : clock.now() - heldSince
    return ms < 0 ? Number.POSITIVE_INFINITY : ms
  }

  async function acquire(): Promise<boolean> {
    const requestedAt = clock.now()
    const mine = await leases.acquire({ name, holder, ttlMs })
    heldSince = mine ? requestedAt : null
    return mine
  }

  return {
    held: () => age() < ttlMs,
    ensure: async () => age() < renewMs || (await acquire()),
    async keep(signal) {
      while (!signal.aborted) {
        await clock.sleep(renewMs, signal)
        if (heldSince !== null && !signal.aborted) await acquire().catch(() => undefined)
      }
    },
    async release() {
      if (heldSince === null) return
      heldSince = null
      await leases.release({ name, holder })
    },
  }
}
