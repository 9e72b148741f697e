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

/** Counts events and requests, and formats them for Prometheus. */
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

/** The limit of a scrape, and the prices of nodes. */
export interface MetricsOptions {
  /** How long the database may take, in milliseconds. @default 2000 */
  readonly timeoutMs?: number | undefined
  /** Price of a million calls by chain id. Other chains have no cost. @default none */
  readonly callPrices?: ReadonlyMap<number, number> | undefined
}

/**
 * Builds a histogram without series. The Prometheus library checks and hashes labels on each observation, which took a
 * tenth of a look-up's CPU time. Here labels are formatted once per series, and an observation makes two additions.
 * @param bounds - Upper bounds in seconds, ascending.
 */
export function createHistogram(shortName: string, help: string, bounds: readonly number[]) {
  const name = `${prefix}${shortName}`
  const allSeries: { readonly labels: string; readonly counts: readonly number[]; readonly sum: number }[] = []

  function formatSeries({ labels, counts, sum }: (typeof allSeries)[number]): string[] {
    let cumulative = 0
    const buckets = counts.map((count, index) => {
      cumulative += count
      return `${name}_bucket{le="${bounds[index] ?? '+Inf'}"${labels === '' ? '' : `,${labels}`}} ${cumulative}`
    })
    const braced = labels === '' ? '' : `{${labels}}`
    return [...buckets, `${name}_sum${braced} ${sum}`, `${name}_count${braced} ${cumulative}`]
  }

  return {
    /**
     * Adds an empty series, and returns the function that observes a duration in seconds.
     * @param labels - Formatted labels without braces; empty: none.
     */
    addSeries(labels: string): (seconds: number) => void {
      // Observations up to each bound and above the previous one; the last entry counts those above all bounds.
      const series = { labels, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 }
      allSeries.push(series)
      return (seconds) => {
        let bucket = 0
        while (seconds > (bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
        series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
        series.sum += seconds
      }
    },
    /** The text format of Prometheus. */
    lines: () => [...formatHeading(name, 'histogram', help), ...allSeries.flatMap(formatSeries)],
  }
}

/** The HELP and TYPE lines of a metric. */
export function formatHeading(name: string, type: 'counter' | 'histogram', help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

const requestHelp = 'Time from a request to its answer. Requests that are no well-formed HTTP are not counted.'

/** Builds the histogram of requests by method, route and status. */
export function createRequestDurations() {
  const durations = createHistogram('http_request_duration_seconds', requestHelp, durationBuckets)
  const observers = new Map<string, (seconds: number) => void>()
  return {
    observe({ method, route, status, ms }: Omit<ObservedRequest, 'requestId'>): void {
      const key = `${method} ${status} ${route}`
      let observe = observers.get(key)
      if (observe === undefined) {
        // The values need no escaping: they are known methods, route patterns and numbers.
        observe = durations.addSeries(`method="${method}",route="${route}",status="${status}"`)
        observers.set(key, observe)
      }
      observe(ms / 1_000)
    },
    text: () => durations.lines().join('\n'),
  }
}
