/**
 * Declares the metrics of a server, and measures its requests by route pattern. A path would name addresses and
 * transactions; no metric has data of one integration.
 * @module
 */
import type { EventSink } from '@payment-integration/core'
import type { Indexer } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import type * as PromClient from 'prom-client'
import type { ObservedRequest, RequestObserver } from '../app/observe-requests.js'

/** The library, loaded by a process that has metrics. */
export type MetricsLibrary = typeof PromClient

/** Prefix of every service metric. Process metrics keep the names that Prometheus clients share. */
export const prefix = 'payment_integration_'

/** Prometheus counts in seconds. */
export const toSeconds = (ms: number | null) => (ms === null ? null : ms / 1_000)

/** Upper bounds of durations, in seconds: from a look-up in memory to a receiver that uses its whole time limit. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Upper bounds of the time from a commit to the receiver's answer, in seconds. The last attempt is three days after the
 * commit.
 */
export const publishBuckets = [...durationBuckets, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 259_200]

/** The parts that a scrape reads. */
export interface MetricsSources {
  readonly indexers: readonly Pick<Indexer, 'status'>[]
  readonly deliveries: Pick<Store['deliveries'], 'msUntilDue' | 'backlog' | 'endpoints' | 'oldestSnapshot'>
}

export interface Metrics {
  readonly onEvent: EventSink
  /** Counts a rejected webhook of the identity provider, by its code. */
  readonly countRejectedWebhook: (code: string) => void
  readonly onRequest: RequestObserver
  /** Value of `Content-Type`. */
  readonly contentType: string
  /** Sets the parts that a scrape reads. Until then chains and deliveries are left out. */
  watch(sources: MetricsSources): void
  /** The text format of Prometheus. It never rejects: unreadable values are left out. */
  text(): Promise<string>
}

export interface MetricsOptions {
  /** How long the database may take, in milliseconds. @default 2000 */
  readonly timeoutMs?: number | undefined
  /** Price of a million calls by chain id. Other chains have no cost. @default none */
  readonly callPrices?: ReadonlyMap<number, number> | undefined
}

/**
 * Builds an empty series. The Prometheus library checks and hashes labels on each observation; this series makes two
 * additions.
 * @param bounds - Upper bounds in seconds, ascending.
 */
export function createBuckets(bounds: readonly number[]) {
  // Observations up to each bound and above the previous one; the last entry counts those above all bounds.
  const counts = Array.from({ length: bounds.length + 1 }, () => 0)
  let sum = 0
  return {
    observe(seconds: number): void {
      let bucket = 0
      while (seconds > (bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
      counts[bucket] = (counts[bucket] ?? 0) + 1
      sum += seconds
    },
    /** The samples of the series. @param labels - Formatted labels without braces; empty: none. */
    lines(name: string, labels: string): string[] {
      let cumulative = 0
      const buckets = counts.map((count, index) => {
        cumulative += count
        return `${name}_bucket{le="${bounds[index] ?? '+Inf'}"${labels === '' ? '' : `,${labels}`}} ${cumulative}`
      })
      const braced = labels === '' ? '' : `{${labels}}`
      return [...buckets, `${name}_sum${braced} ${sum}`, `${name}_count${braced} ${cumulative}`]
    },
  }
}

/** The HELP and TYPE lines of a metric. */
export function formatHeading(name: string, type: 'counter' | 'histogram', help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

type RequestFacts = Omit<ObservedRequest, 'requestId'>

const name = `${prefix}http_request_duration_seconds`
const help = 'Time from a request to its answer. Requests that are no well-formed HTTP are not counted.'

/** Builds the histogram without the Prometheus library, which took a tenth of a look-up's CPU time. */
export function createRequestDurations() {
  const seriesByKey = new Map<string, { readonly labels: string; readonly buckets: ReturnType<typeof createBuckets> }>()

  function addSeries(key: string, { method, route, status }: RequestFacts) {
    // The values need no escaping: they are known methods, route patterns and numbers.
    const labels = `method="${method}",route="${route}",status="${status}"`
    const series = { labels, buckets: createBuckets(durationBuckets) }
    seriesByKey.set(key, series)
    return series
  }

  return {
    observe(request: RequestFacts): void {
      const key = `${request.method} ${request.status} ${request.route}`
      const series = seriesByKey.get(key) ?? addSeries(key, request)
      series.buckets.observe(request.ms / 1_000)
    },
    text: () =>
      [
        ...formatHeading(name, 'histogram', help),
        ...[...seriesByKey.values()].flatMap(({ labels, buckets }) => buckets.lines(name, labels)),
      ].join('\n'),
  }
}
