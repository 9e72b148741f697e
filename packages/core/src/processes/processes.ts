/** The processes of a deployment, their roles and leases. Source: docs/roles.md, docs/runbooks/README.md. @module */
import { setMaxListeners } from 'node:events'
import { type Audited, recordNote } from '../history/audit-log.js'
import type { LeaseStore, LeaseView } from '../indexer/chain-store.js'
import { describeError, type Loop, processSkewMs } from '../internal/values.js'
import type { Clock, Logger } from '../ports/runtime.js'

/** The loops that a process runs. */
export interface LoopRoles {
  /** Sends deliveries. */
  readonly dispatcher: boolean
  /** Polls receipts, fulfillments and the identity provider, and announces the head of the audit log. */
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
  readonly startedAt: number
  /** Milliseconds since it should have reported itself again; null: it runs. */
  readonly silentMs: number | null
  /** Names of the leases that it holds, such as `indexer:137`. */
  readonly leases: readonly string[]
}

/** The loops of a process, and how it is listed. */
export interface RunOptions {
  /** @default every loop */
  readonly roles?: LoopRoles | undefined
  /** Reports the process to `Service.processes`. @default it is not listed */
  readonly process?: ProcessFacts | undefined
}

export interface LeaseCommands extends Pick<LeaseStore, 'list'> {
  /**
   * Releases a lease, audited as `lease.released`. The holder must be dead: a live one works on until its next renewal.
   * @returns The released lease, or null when there is none of that name.
   */
  release(name: string): Promise<LeaseView | null>
}

export function createLeaseCommands(leases: LeaseStore, audited: Audited): LeaseCommands {
  return {
    list: () => leases.list(),
    async release(name) {
      const lease = (await leases.list()).find((each) => each.name === name)
      if (lease === undefined) return null
      const { holder, endsInMs } = lease
      await recordNote(audited, { action: 'lease.released', subject: name, details: { holder, endsInMs } })
      await leases.release({ name, holder })
      return lease
    },
  }
}

/** Runs loops until the signal aborts or one fails, drains all of them, and rejects with the first failure. */
export async function runLoops(loops: readonly Loop[], signal: AbortSignal): Promise<void> {
  const failed = new AbortController()
  const stop = AbortSignal.any([signal, failed.signal])
  // Each chain adds several listeners to this signal.
  setMaxListeners(0, stop)
  const failures: unknown[] = []
  const runs = loops.map((loop) =>
    loop.run(stop).catch((error: unknown) => {
      failures.push(error)
      failed.abort(error)
    }),
  )
  await Promise.all(runs)
  if (failures.length > 0) throw failures[0]
}

/** A process renews its lease every 10 s; it counts as silent after 30 s without a renewal. */
const reportEveryMs = 10_000
const ttlMs = 30_000
/** How long a process that was killed stays listed, in milliseconds. */
const listedMs = 24 * 60 * 60_000
const prefix = 'process:'
/** Separates the parts of a holder: start, pid, host, release and roles. No part has a line break. */
const separator = '\n'

/** Builds a loop that renews the lease `process:<id>`, and releases it at the end. Never rejects. */
export function createPresence(deps: {
  readonly leases: LeaseStore
  readonly clock: Clock
  readonly logger: Logger
  /** Also the holder of the process's other leases. */
  readonly id: string
  readonly facts: ProcessFacts
}): Loop {
  const { leases, clock, logger, id, facts } = deps
  const { host, pid, release, roles } = facts
  const holder = [clock.now(), pid, host, release, roles.join(',')]
    .map((part) => String(part).replaceAll(separator, ' '))
    .join(separator)
  const lease = { name: `${prefix}${id}`, holder }

  const report = () => leases.acquire({ ...lease, ttlMs })
  async function removeLongKilled(): Promise<void> {
    const old = (await leases.list()).filter(({ name, endsInMs }) => name.startsWith(prefix) && endsInMs < -listedMs)
    for (const each of old) await leases.release(each)
  }
  const runLogged = (work: Promise<unknown>) =>
    work.catch((error) => logger.debug({ error: describeError(error) }, 'This process could not report itself.'))

  return {
    async run(signal) {
      await runLogged(report().then(removeLongKilled))
      while (!signal.aborted) {
        await clock.sleep(reportEveryMs, signal)
        if (!signal.aborted) await runLogged(report())
      }
      await runLogged(leases.release(lease))
    },
  }
}

/** Whether a process renewed its lease. A lease that ends later than any renewal can set comes from a clock ahead. */
const isRenewed = (endsInMs: number) => endsInMs > 0 && endsInMs <= ttlMs + processSkewMs

export async function listProcesses(leases: Pick<LeaseStore, 'list'>): Promise<RunningProcess[]> {
  const all = await leases.list()
  const activeLeases = all.filter(({ name, endsInMs }) => !name.startsWith(prefix) && endsInMs > 0)
  return all
    .filter(({ name, endsInMs }) => name.startsWith(prefix) && endsInMs > -listedMs)
    .map(({ name, holder, endsInMs }) => {
      const id = name.slice(prefix.length)
      const [startedAt = '', pid = '', host = '', release = '', roles = ''] = holder.split(separator)
      return {
        id,
        host,
        pid: Number(pid),
        release,
        roles: roles.split(','),
        startedAt: Number(startedAt),
        silentMs: isRenewed(endsInMs) ? null : Math.max(0, -endsInMs),
        leases: activeLeases.filter((lease) => lease.holder === id).map((lease) => lease.name),
      }
    })
    .sort((a, b) => a.startedAt - b.startedAt)
}
