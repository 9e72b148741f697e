/** The numbers of the overview. @module */
import type { ChainStatus, Service } from '@payment-integration/core'
import type { ConsoleAttempt, DeliveryBacklog, EndpointView } from '@payment-integration/core/ports'
import type { Hour, HourCounts } from './hour-counts.js'

/** The parts of the service that the sampler reads. */
export type SampledService = Pick<Service, 'store' | 'indexers'>

/** All numbers, at one moment. */
export interface Overview extends Hour, Pick<LatencyStatistics, 'p50' | 'p95'> {
  readonly at: number
  /** Newest attempts of the last hour, newest first; the dots of the latency chart. */
  readonly dots: readonly ConsoleAttempt[]
  readonly backlog: DeliveryBacklog
  readonly chains: readonly ChainStatus[]
  readonly endpoints: readonly EndpointView[]
}

const hourMs = 3_600_000
const mostDots = 400
const mostPending = 10_000
/** Failing endpoints that are counted. */
export const mostEndpoints = 100

/** Reads them. */
export async function readOverview(
  { store, indexers }: SampledService,
  hours: HourCounts,
  now: () => number,
): Promise<Overview> {
  const [hour, dots, backlog, endpoints] = await Promise.all([
    hours.read(),
    store.console.attempts({ since: Math.max(0, now() - hourMs), limit: mostDots }),
    store.deliveries.backlog({ atMost: mostPending }),
    store.deliveries.endpoints({ limit: mostEndpoints }),
  ])
  return {
    ...{ payments: hour.payments, attempts: hour.attempts, dots, backlog, endpoints },
    at: now(),
    ...latencyStatistics(dots.map(({ latencyMs }) => latencyMs)),
    chains: indexers.map((indexer) => indexer.status()),
  }
}

/** Statistics of some latencies. */
export interface LatencyStatistics {
  readonly count: number
  /** In milliseconds; null: there is none. */
  readonly p50: number | null
  readonly p95: number | null
}

/** Computes them. */
export function latencyStatistics(latencies: readonly number[]): LatencyStatistics {
  const sorted = [...latencies].sort((a, b) => a - b)
  return { count: sorted.length, p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) }
}

/** The value below which this share of sorted values lies. */
export function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}
