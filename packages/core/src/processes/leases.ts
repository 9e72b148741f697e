/** Roles and leases of processes. Source: docs/roles.md, docs/decisions/clocks.md. @module */
import type { Audited } from '../history/audited.js'
import type { LeaseStore } from '../indexer/chain-store.js'

/** The loops that a process runs. */
export interface LoopRoles {
  /** Sends deliveries. */
  readonly dispatcher: boolean
  /** Polls receipts, fulfilments and the identity provider, and announces the head of the audit log. */
  readonly poller: boolean
  /** Ids of the chains to index; `all`: every followed one. */
  readonly indexer: 'all' | readonly number[]
}

/** How a process describes itself to operators. No secrets. */
export interface ProcessFacts {
  /** The name of its machine or container. */
  readonly host: string
  readonly pid: number
  /** The version of the software. */
  readonly release: string
  /** Such as `api`, `dispatcher`, `indexer:137`. */
  readonly roles: readonly string[]
}

/** A process that runs, or ran lately. */
export interface RunningProcess extends ProcessFacts {
  readonly id: string
  /** Unix milliseconds. */
  readonly startedAt: number
  /** Milliseconds since it should have reported itself again; null: it runs. */
  readonly silentMs: number | null
  /** Names of the leases that it holds, such as `indexer:137`. */
  readonly leases: readonly string[]
}

/** The operator's reads of running processes. */
export interface ProcessQueries {
  /** Processes with a database in common, the oldest first. A killed one is listed for a day. */
  list(): Promise<RunningProcess[]>
}

/** What a process runs, and how it is listed. */
export interface RunOptions {
  /** @default every loop */
  readonly roles?: LoopRoles | undefined
  /** Reports the process to {@link ProcessQueries}. @default it is not listed */
  readonly process?: ProcessFacts | undefined
}

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
