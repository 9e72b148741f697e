/** How the service is doing, without a word about tenants. @module */
import type { ChainStatus, Indexer, Store } from '@payment-integration/core'

/** How one chain is doing. `lag` is the number of blocks between head and indexed height, or null while unknown. */
export type ChainHealth = ChainStatus & { readonly lag: number | null }

/**
 * `ok`: everything works. `degraded`: the API answers, and a chain cannot be followed just now.
 * `down`: the database does not answer, or the loops have ended.
 */
export interface HealthReport {
  readonly status: 'ok' | 'degraded' | 'down'
  readonly database: 'ok' | 'unavailable'
  readonly chains: readonly ChainHealth[]
}

/** What is asked. */
export interface HealthDeps {
  readonly store: Pick<Store, 'ping'>
  readonly indexers: readonly Pick<Indexer, 'status'>[]
  /** False once a loop ended that should run. @default () => true */
  readonly running?: (() => boolean) | undefined
  /** How long the database may take, in milliseconds. @default 2000 */
  readonly timeoutMs?: number | undefined
}

/** Builds the question. It never rejects. */
export function createHealth(deps: HealthDeps): () => Promise<HealthReport> {
  const { store, indexers, running = () => true, timeoutMs = 2_000 } = deps
  return async () => {
    const database = (await answersWithin(() => store.ping(), timeoutMs)) ? 'ok' : 'unavailable'
    const chains = indexers.map((indexer) => chainHealth(indexer.status()))
    const down = database !== 'ok' || !running()
    const degraded = chains.some((chain) => chain.error !== null)
    return { status: down ? 'down' : degraded ? 'degraded' : 'ok', database, chains }
  }
}

function chainHealth({ chainId, head, indexed, error }: ChainStatus): ChainHealth {
  const lag = head === null || indexed === null ? null : Math.max(0, head - indexed)
  return { chainId, head, indexed, lag, error }
}

async function answersWithin(ask: () => Promise<void>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs)
  })
  const answered = Promise.resolve()
    .then(ask)
    .then(
      () => true,
      () => false,
    )
  try {
    return await Promise.race([answered, late])
  } finally {
    clearTimeout(timer)
  }
}
