/** The numbers of the overview. @module */
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChainStatus, oldSnapshotMs, type Queries, type Service } from '@payment-integration/core'
import type { ConsoleAttempt, DatabaseSnapshot, DeliveryBacklog, EndpointView } from '@payment-integration/core/ports'
import type { Hour, HourCounts } from './hour-counts.js'

/** The parts of the service that the sampler reads. */
export type SampledService = Pick<Service, 'queries' | 'indexers'>

/** All numbers, at one moment. */
export interface Overview extends Hour, Pick<LatencyStatistics, 'p50' | 'p95'> {
  readonly at: number
  /** Newest attempts of the last hour, newest first; the dots of the latency chart. */
  readonly dots: readonly ConsoleAttempt[]
  readonly backlog: DeliveryBacklog
  readonly chains: readonly ChainStatus[]
  readonly endpoints: readonly EndpointView[]
  /** Missing deliveries among the newest versions, as far as they are examined. */
  readonly missing: number
  /** A database snapshot that has been open for long, or null. */
  readonly oldSnapshot: DatabaseSnapshot | null
}

const hourMs = 3_600_000
const mostDots = 400
const mostPending = 10_000
/** Failing endpoints that are counted. */
export const mostEndpoints = 100

/** Reads all numbers of the overview. */
export async function readOverview(
  { queries, indexers }: SampledService,
  { hours, missing }: { readonly hours: HourCounts; readonly missing: () => number },
  now: () => number,
): Promise<Overview> {
  const [hour, dots, backlog, endpoints, snapshot] = await Promise.all([
    hours.read(),
    queries.attempts({ since: Math.max(0, now() - hourMs), limit: mostDots }),
    queries.backlog({ atMost: mostPending }),
    queries.endpoints({ limit: mostEndpoints }),
    queries.oldestSnapshot(),
  ])
  return {
    ...{ payments: hour.payments, attempts: hour.attempts, dots, backlog, endpoints },
    at: now(),
    missing: missing(),
    oldSnapshot: snapshot !== null && snapshot.ageMs >= oldSnapshotMs ? snapshot : null,
    ...latencyStatistics(dots.map(({ latencyMs }) => latencyMs)),
    chains: indexers.map((indexer) => indexer.status()),
  }
}

/** Versions of one read of {@link createMissingCount}, which bounds its time. */
const missingPart = 2_000
/** A restored copy lacks its newest deliveries: older ones are for the command `deliveries check`. */
const maxChecked = 100_000
const recheckMs = 60_000

/**
 * Counts missing deliveries in the background: once in the life of the console, and once a minute while there are any.
 * @returns A function that yields the count so far, and never waits.
 */
export function createMissingCount(
  { findMissing }: Pick<Queries, 'findMissing'>,
  now: () => number,
  onError: (error: unknown) => void,
): () => number {
  let missing = 0
  let checkedAt: number | null = null
  let isChecking = false

  async function check(): Promise<void> {
    let found = 0
    let beforeId: string | undefined
    for (let checked = 0; checked < maxChecked; checked += missingPart) {
      const begun = performance.now()
      const part = await findMissing({ beforeId, limit: missingPart })
      found += part.missing
      missing = Math.max(missing, found)
      if (part.lowestId === null || part.examined < missingPart) break
      beforeId = part.lowestId
      // A quarter of the time at most: SQLite blocks the process.
      await sleep(3 * (performance.now() - begun), undefined, { ref: false })
    }
    missing = found
  }

  return () => {
    const isDue = checkedAt === null || (missing > 0 && now() - checkedAt >= recheckMs)
    if (isDue && !isChecking) {
      isChecking = true
      check()
        .then(() => {
          checkedAt = now()
        }, onError)
        .finally(() => {
          isChecking = false
        })
    }
    return missing
  }
}

/** Statistics of some latencies. */
export interface LatencyStatistics {
  readonly count: number
  /** In milliseconds; null: there is none. */
  readonly p50: number | null
  readonly p95: number | null
}

/** Computes the statistics of some latencies, in milliseconds. */
export function latencyStatistics(latencies: readonly number[]): LatencyStatistics {
  const sorted = [...latencies].sort((a, b) => a - b)
  return { count: sorted.length, p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) }
}

/** The value below which this share of sorted values lies. */
export function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}
