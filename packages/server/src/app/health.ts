/** Reports the health and the readiness of the service, without tenant data. Source: docs/roles.md. @module */
import type { ChainStatus, Recording } from '@payment-integration/core'
import type { Indexer } from '@payment-integration/core/internal'
import type { Clock, Store } from '@payment-integration/core/ports'
import type { Hono } from 'hono'
import { answerWithin } from '../internal/cached-answer.js'
import { shortenUrls } from '../logging/log.js'
import { addEndpoint, answerPrivateJson } from './answers.js'
import type { AppEnv } from './requests.js'

/** How long a failed proof counts as recent, in milliseconds after it was noticed. */
export const recentFailedProofMs = 600_000

/** Reports whether a node's count of failed proofs rose within {@link recentFailedProofMs}; counts only grow. */
function createProofWatch(clock: Pick<Clock, 'now'>): (chains: readonly ChainStatus[]) => boolean {
  const counts = new Map<string, number>()
  let roseAt = Number.NEGATIVE_INFINITY
  return (chains) => {
    for (const { chainId, nodes } of chains)
      for (const [position, { failedProofs }] of nodes.entries()) {
        const key = `${chainId}:${position}`
        if (failedProofs <= (counts.get(key) ?? 0)) continue
        counts.set(key, failedProofs)
        roseAt = clock.now()
      }
    return clock.now() - roseAt < recentFailedProofMs
  }
}

/** The status of one chain. `lag`: blocks between head and indexed height, or null while unknown. */
export type ChainHealth = Omit<ChainStatus, 'newestReorgs'> & { readonly lag: number | null }

/**
 * `ok`: everything works; a chain that another process leads is no fault. `degraded`: the API answers, but a chain
 * cannot be followed (a reorg that is too deep counts), or a node failed a proof in the last ten minutes.
 * `down`: the database does not answer, or the loops have stopped.
 */
export interface HealthReport {
  readonly status: 'ok' | 'degraded' | 'down'
  readonly database: 'ok' | 'unavailable'
  readonly chains: readonly ChainHealth[]
  /** Present where only payments of the service's own integrations are stored. Source: docs/scale.md. */
  readonly recording?: 'own' | undefined
}

/** The parts that are checked. */
export interface HealthDeps {
  /** The database, pinged at each check. */
  readonly store: Pick<Store, 'ping'>
  /** One per followed chain. */
  readonly indexers: readonly Pick<Indexer, 'status'>[]
  /** @default 'all' */
  readonly recording?: Recording | undefined
  /** False once a loop that should run has stopped. @default () => true */
  readonly running?: (() => boolean) | undefined
  /** How long the database may take, in milliseconds. @default 2000 */
  readonly timeoutMs?: number | undefined
  /** Unix time in milliseconds. @default Date */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/**
 * Creates the health check. It never rejects.
 * @example
 * import { createHealth } from '@payment-integration/server'
 * import { service } from './service.js'
 * const { status, chains } = await createHealth(service)()
 */
export function createHealth(deps: HealthDeps): () => Promise<HealthReport> {
  const { store, indexers, recording = 'all', running = () => true, timeoutMs = 2_000, clock = Date } = deps
  const hasRecentFailure = createProofWatch(clock)
  return async () => {
    const database = (await answerWithin(() => store.ping().then(() => true), timeoutMs)) ? 'ok' : 'unavailable'
    const statuses = indexers.map((indexer) => indexer.status())
    const chains = statuses.map(toChainHealth)
    const isDown = database !== 'ok' || !running()
    const isDegraded = hasRecentFailure(statuses) || chains.some((chain) => chain.error !== null)
    return {
      status: isDown ? 'down' : isDegraded ? 'degraded' : 'ok',
      database,
      chains,
      ...(recording === 'own' ? { recording } : {}),
    }
  }
}

/** Copies field by field and shortens URLs in messages: `/health` is public. */
function toChainHealth(status: ChainStatus): ChainHealth {
  const { chainId, leading, head, headAt, indexed, proof, reorgs, nodes, error, lastError } = status
  return {
    chainId,
    leading,
    head,
    headAt,
    indexed,
    lag: computeLag(status),
    proof,
    reorgs,
    nodes: nodes.map((each) => ({
      name: each.name,
      score: each.score,
      inUse: each.inUse,
      head: each.head,
      latencyMs: each.latencyMs,
      failures: each.failures,
      contradictions: each.contradictions,
      failedProofs: each.failedProofs,
      calls: each.calls,
      receivedBytes: each.receivedBytes,
      blocks: each.blocks,
      maxRange: each.maxRange,
      lastError: each.lastError && shortenUrls(each.lastError),
    })),
    error: error && shortenUrls(error),
    lastError: lastError === null ? null : { message: shortenUrls(lastError.message), at: lastError.at },
  }
}

/** Blocks between head and indexed height; null while unknown, 0 when the node's head is lower. */
export function computeLag({ head, indexed }: Pick<ChainStatus, 'head' | 'indexed'>): number | null {
  return head === null || indexed === null ? null : Math.max(0, head - indexed)
}

/** The state of a role. A chain's indexer leads, stands by for another process, or fails to read the chain. */
export type RoleState = 'serves' | 'runs' | 'leads' | 'stands by' | 'fails'

/** Whether a process is ready, and why not. */
export interface ReadyReport {
  readonly status: 'ready' | 'not ready'
  readonly reason: 'shutdown' | 'database unavailable' | 'loops stopped' | null
  /** By name, such as `api` and `indexer:137`. */
  readonly roles: Readonly<Record<string, RoleState>>
}

export interface ReadinessDeps {
  /** The roles of the process. */
  readonly roles: readonly string[]
  readonly health: () => Promise<HealthReport>
  /** The indexers of the roles. */
  readonly indexers: readonly Pick<Indexer, 'chainId' | 'status'>[]
  /** Whether the shutdown has begun. */
  readonly isStopping: () => boolean
}

/**
 * Builds the readiness check. A chain that cannot be read leaves the process ready: another process could not read it
 * either, and requests are served. It never rejects.
 */
export function createReadiness({ roles, health, indexers, isStopping }: ReadinessDeps): () => Promise<ReadyReport> {
  const findRoleState = (role: string, hasStopped: boolean): RoleState => {
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
    const states = Object.fromEntries(roles.map((role) => [role, findRoleState(role, reason === 'loops stopped')]))
    return { status: reason === null ? 'ready' : 'not ready', reason, roles: states }
  }
}

/** Whether one role is ready; null: the process does not have the role. */
export function isRoleReady({ status, roles }: ReadyReport, role: string): boolean | null {
  const state = Object.hasOwn(roles, role) ? roles[role] : undefined
  return state === undefined ? null : status === 'ready' && state !== 'fails'
}

/** Load balancers call these paths, so no rate limit applies, and an answer costs no more than a 429. */
export const healthPaths = ['/health', '/health/live'] as const

/**
 * Adds the health routes: 200 while requests can be served, 503 otherwise. `live` says only that the process answers.
 * @param health - Called by each request, so the caller caches it.
 */
export function addHealthRoutes(app: Hono<AppEnv>, health: () => Promise<HealthReport>): void {
  const [healthPath, livePath] = healthPaths
  addEndpoint(app, 'get', healthPath, async () => {
    const body = await health()
    return answerPrivateJson(body, body.status === 'down' ? 503 : 200)
  })
  addEndpoint(app, 'get', livePath, () => answerPrivateJson({ status: 'ok' }))
}
