/** The metrics port of a server; it holds no data of any integration. @module */
import type { EventSink, Indexer } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import type { RequestObserver } from '../app/observe-requests.js'

/** The parts that a scrape reads. */
export interface MetricsSources {
  readonly indexers: readonly Pick<Indexer, 'status'>[]
  readonly deliveries: Pick<Store['deliveries'], 'msUntilDue' | 'backlog' | 'endpoints' | 'oldestSnapshot'>
}

/** The metrics of one server. */
export interface Metrics {
  /** Counts an event. */
  readonly onEvent: EventSink
  /** Counts a rejected webhook of the identity provider, by its code. */
  readonly webhookRefused: (code: string) => void
  /** Measures an answered request. */
  readonly onRequest: RequestObserver
  /** Value of `Content-Type`. */
  readonly contentType: string
  /** Sets the parts that a scrape reads. Until then chains and deliveries are left out. */
  watch(sources: MetricsSources): void
  /** The text format of Prometheus. It never rejects: unreadable values are left out. */
  text(): Promise<string>
}

/** Options of {@link createMetrics}. */
export interface MetricsOptions {
  /** How long the database may take, in milliseconds. @default 2000 */
  readonly timeoutMs?: number | undefined
  /** Price of a million calls by chain id. Other chains have no cost. @default none */
  readonly callPrices?: ReadonlyMap<number, number> | undefined
}
