/** The metrics port of a server, with the names and bounds of its metrics; no data of any integration. @module */

import type { EventSink } from '@payment-integration/core'
import type { Indexer } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import type * as PromClient from 'prom-client'
import type { RequestObserver } from '../app/observe-requests.js'

/** The library, loaded by a process that has metrics. */
export type MetricsLibrary = typeof PromClient

/** Prefix of every service metric. Process metrics keep the names that Prometheus clients share. */
export const prefix = 'payment_integration_'

/** Upper bounds of durations, in seconds: from a look-up in memory to a receiver that uses its whole time limit. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Upper bounds from a commit to the receiver's answer, in seconds: from the first attempt to the last, three days
 * later.
 */
export const publishBuckets = [...durationBuckets, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 259_200]

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
  readonly countRejectedWebhook: (code: string) => void
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
