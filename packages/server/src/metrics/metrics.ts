/** The metrics port of a server; it holds no data of any integration. @module */
import type { EventSink, Indexer } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import type { MiddlewareHandler } from 'hono'
import type { AppEnv } from '../app/app-env.js'

/** The parts that a scrape reads. */
export interface MetricsSources {
  readonly indexers: readonly Pick<Indexer, 'status'>[]
  readonly deliveries: Pick<Store['deliveries'], 'msUntilDue' | 'backlog' | 'endpoints'>
}

/** The metrics of one server. */
export interface Metrics {
  /** Counts an event. */
  readonly onEvent: EventSink
  /** Counts a rejected webhook of the identity provider, by its code. */
  readonly webhookRefused: (code: string) => void
  /** Wraps the first middleware, which must not throw, and measures it with everything after it. */
  measured(middleware: MiddlewareHandler<AppEnv>): MiddlewareHandler<AppEnv>
  /** Value of `Content-Type`. */
  readonly contentType: string
  /** Sets the parts that a scrape reads. Until then chains and deliveries are left out. */
  watch(sources: MetricsSources): void
  /** The text format of Prometheus. It never rejects: unreadable values are left out. */
  text(): Promise<string>
}

/** Options of {@link createMetrics}. */
export interface MetricsOptions {
  /** A clock that never goes back, in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined
  /** How long the database may take, in milliseconds. @default 2000 */
  readonly timeoutMs?: number | undefined
}
