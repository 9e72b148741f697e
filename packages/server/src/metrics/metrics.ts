/** What Prometheus is told. Nothing in it says anything about an integration. @module */
import type { EventSink, Indexer } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import type { MiddlewareHandler } from 'hono'
import type { AppEnv } from '../app/app-env.js'

/** What is asked when the metrics are. */
export interface MetricsSources {
  readonly indexers: readonly Pick<Indexer, 'status'>[]
  readonly deliveries: Pick<Store['deliveries'], 'msUntilDue' | 'backlog' | 'endpoints'>
}

/** The metrics of one server. */
export interface Metrics {
  /** Counts an event. */
  readonly onEvent: EventSink
  /** Counts a webhook of the identity provider that was refused, by its code. */
  readonly webhookRefused: (code: string) => void
  /** The middleware that goes before everything else, measured with what is behind it. It must not throw. */
  measured(middleware: MiddlewareHandler<AppEnv>): MiddlewareHandler<AppEnv>
  /** Value of `Content-Type`. */
  readonly contentType: string
  /** Names what is asked from now on; until then chains and deliveries are left out. */
  watch(sources: MetricsSources): void
  /** The text format of Prometheus. It never rejects: what cannot be read is left out. */
  text(): Promise<string>
}

/** Options of {@link createMetrics}. */
export interface MetricsOptions {
  /** A clock that never goes back, in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined
  /** How long the database may take, in milliseconds. @default 2000 */
  readonly timeoutMs?: number | undefined
}
