/** Reports the health of the service, without tenant data. @module */
import type { ChainStatus, Indexer, Recording } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { answerWithin } from '../internal/answer-within.js'
import { shortenUrls } from '../logging/shorten-urls.js'
import { createProofFailures } from './proof-failures.js'

/** The status of one chain. `lag`: blocks between head and indexed height, or null while unknown. */
export type ChainHealth = Omit<ChainStatus, 'newestReorganisations'> & { readonly lag: number | null }

/**
 * `ok`: everything works; a chain that another process leads is no fault. `degraded`: the API answers, but a chain
 * cannot be followed (a reorganisation that is too deep counts), or an endpoint failed a proof in the last ten minutes.
 * `down`: the database does not answer, or the loops have stopped.
 */
export interface HealthReport {
  readonly status: 'ok' | 'degraded' | 'down'
  readonly database: 'ok' | 'unavailable'
  readonly chains: readonly ChainHealth[]
  /** Present where payments of the service's own integrations alone are stored. Source: docs/scale.md. */
  readonly recording?: 'own' | undefined
}

/** The parts whose health is checked. */
export interface HealthDeps {
  readonly store: Pick<Store, 'ping'>
  readonly indexers: readonly Pick<Indexer, 'status'>[]
  /** @default 'all' */
  readonly recording?: Recording | undefined
  /** False once a loop that should run has stopped. @default () => true */
  readonly running?: (() => boolean) | undefined
  /** How long the database may take, in milliseconds. @default 2000 */
  readonly timeoutMs?: number | undefined
  /** Unix time in milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** Builds the health check. It never rejects. */
export function createHealth(deps: HealthDeps): () => Promise<HealthReport> {
  const { store, indexers, recording = 'all', running = () => true, timeoutMs = 2_000, now = Date.now } = deps
  const failedProofsLately = createProofFailures(now)
  return async () => {
    const database = (await answerWithin(() => store.ping().then(() => true), timeoutMs)) ? 'ok' : 'unavailable'
    const statuses = indexers.map((indexer) => indexer.status())
    const chains = statuses.map(chainHealth)
    const down = database !== 'ok' || !running()
    const unproven = failedProofsLately(statuses)
    const degraded = unproven || chains.some((chain) => chain.error !== null)
    return {
      status: down ? 'down' : degraded ? 'degraded' : 'ok',
      database,
      chains,
      ...(recording === 'own' ? { recording } : {}),
    }
  }
}

/** Copies field by field and shortens URLs in messages: `/health` is public. */
function chainHealth(status: ChainStatus): ChainHealth {
  const { chainId, leading, head, headAt, indexed, proof, reorganisations, endpoints, error, lastError } = status
  return {
    chainId,
    leading,
    head,
    headAt,
    indexed,
    lag: lagOf(status),
    proof,
    reorganisations,
    endpoints: endpoints.map((each) => ({
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
      lastError: shown(each.lastError),
    })),
    error: shown(error),
    lastError: lastError === null ? null : { message: shortenUrls(lastError.message), at: lastError.at },
  }
}

/** Blocks between head and indexed height; null while unknown, 0 when the node's head is lower. */
export function lagOf({ head, indexed }: Pick<ChainStatus, 'head' | 'indexed'>): number | null {
  return head === null || indexed === null ? null : Math.max(0, head - indexed)
}

function shown(message: string | null): string | null {
  return message === null ? null : shortenUrls(message)
}
