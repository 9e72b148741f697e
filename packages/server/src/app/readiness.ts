/** Reports whether a process takes requests and does its work. Source: docs/roles.md. @module */
import type { Indexer } from '@payment-integration/core'
import type { HealthReport } from './health.js'

/** The state of a role. A chain's indexer leads, stands by for another process, or fails to read the chain. */
export type RoleState = 'serves' | 'runs' | 'leads' | 'stands by' | 'fails'

/** Whether a process is ready, and why not. */
export interface ReadyReport {
  readonly status: 'ready' | 'not ready'
  readonly reason: 'shutdown' | 'database unavailable' | 'loops stopped' | null
  /** By name, such as `api` and `indexer:137`. */
  readonly roles: Readonly<Record<string, RoleState>>
}

/** The parts that are checked. */
export interface ReadinessDeps {
  /** The roles of the process. */
  readonly roles: readonly string[]
  readonly health: () => Promise<HealthReport>
  /** Those of the roles. */
  readonly indexers: readonly Pick<Indexer, 'chainId' | 'status'>[]
  /** Whether the shutdown has begun. */
  readonly isStopping: () => boolean
}

/**
 * Builds the check. A chain that cannot be read leaves the process ready: another process could not read it either, and
 * requests are served. It never rejects.
 */
export function createReadiness({ roles, health, indexers, isStopping }: ReadinessDeps): () => Promise<ReadyReport> {
  const stateOf = (role: string, hasStopped: boolean): RoleState => {
    if (role === 'api' || role === 'console') return 'serves'
    if (hasStopped) return 'fails'
    const status = indexers.find(({ chainId }) => role === `indexer:${chainId}`)?.status()
    if (status === undefined) return 'runs'
    return status.error !== null ? 'fails' : status.leading ? 'leads' : 'stands by'
  }
  return async () => {
    const { status, database } = await health()
    const reason = isStopping()
      ? 'shutdown'
      : database !== 'ok'
        ? 'database unavailable'
        : status === 'down'
          ? 'loops stopped'
          : null
    const states = Object.fromEntries(roles.map((role) => [role, stateOf(role, reason === 'loops stopped')]))
    return { status: reason === null ? 'ready' : 'not ready', reason, roles: states }
  }
}

/** Whether one role is ready; null: the process does not have it. */
export function isRoleReady({ status, roles }: ReadyReport, role: string): boolean | null {
  const state = Object.hasOwn(roles, role) ? roles[role] : undefined
  return state === undefined ? null : status === 'ready' && state !== 'fails'
}
