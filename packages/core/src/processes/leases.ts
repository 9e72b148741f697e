/** Lists and releases leases by an operator's command. See docs/decisions/clocks.md. @module */
import type { Audited } from '../audit/audited.js'
import type { LeaseStore } from '../ports/store-chains.js'

/** A lease that was not released. */
export interface LeaseView {
  /** Such as `indexer:137`. */
  readonly name: string
  /** The id of the process that took it, or took it last. */
  readonly holder: string
  /** Milliseconds until it ends; 0 or less once it has ended. */
  readonly endsInMs: number
}

/** The operator's commands for leases. */
export interface LeaseCommands {
  /** All leases that were not released, by name. */
  list(): Promise<LeaseView[]>
  /**
   * Releases a lease, audited as `lease.released`. A process that still uses it goes on until its next renewal, so
   * release a lease only when its holder is dead.
   * @returns The released lease, or null when there is none of that name.
   */
  release(name: string): Promise<LeaseView | null>
}

/** Builds the commands. */
export function createLeaseCommands({
  leases,
  audited,
}: {
  readonly leases: LeaseStore
  readonly audited: Audited
}): LeaseCommands {
  return {
    list: () => leases.list(),
    async release(name) {
      const lease = (await leases.list()).find((each) => each.name === name)
      if (lease === undefined) return null
      const { holder, endsInMs } = lease
      await audited(async (_tx, note) =>
        note({ action: 'lease.released', subject: name, details: { holder, endsInMs } }),
      )
      await leases.release({ name, holder })
      return lease
    },
  }
}
