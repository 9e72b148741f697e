/** The types of running processes and their roles. Source: docs/roles.md. @module */

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
