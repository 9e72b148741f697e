/** The right to index a chain, which one process has at a time. @module */
import type { LeaseStore } from '../ports/store-chains.js'
import type { Clock } from '../ports/world.js'

/** A lease is prolonged when a third of its time is over, so that one failed try costs nothing. */
const renewalsPerLease = 3

/** A lease as one holder sees it. */
export interface Lease {
  /** Whether it is held, as far as this clock knows. */
  held(): boolean
  /** Takes it, or prolongs it when that is due. Resolves false while another holder has it. Rejects with the store's errors. */
  ensure(): Promise<boolean>
  /** Prolongs it by time until the signal aborts, whenever it is held. Never rejects: the next `ensure` meets the error. */
  keep(signal: AbortSignal): Promise<void>
  /** Gives it up when it is held. */
  release(): Promise<void>
}

/** What a lease needs. */
export interface LeaseDeps {
  readonly leases: LeaseStore
  readonly clock: Clock
  readonly name: string
  /** Unique among all who want the lease. */
  readonly holder: string
  /** How long it lasts without being prolonged, in milliseconds. */
  readonly ttlMs: number
}

/** Builds a lease that is not held. It counts from before the store is asked, so it never ends here after it ended there. */
export function createLease({ leases, clock, name, holder, ttlMs }: LeaseDeps): Lease {
  const renewMs = Math.floor(ttlMs / renewalsPerLease)
  let heldSince: number | null = null
  /** Milliseconds since it was prolonged. A clock that was set back tells nothing, so it is asked for again. */
  function age(): number {
    const ms = heldSince === null ? -1 : clock.now() - heldSince
    return ms < 0 ? Number.POSITIVE_INFINITY : ms
  }

  async function acquire(): Promise<boolean> {
    const asked = clock.now()
    const mine = await leases.acquire({ name, holder, ttlMs })
    heldSince = mine ? asked : null
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
