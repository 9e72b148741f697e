/** Measures requests by route pattern: a path would name addresses and transactions. @module */
import type { RequestObserver } from '../app/observe-requests.js'
import { createRequestDurations } from './request-durations.js'

/** The metric and its recorder. */
export interface RequestMetrics {
  readonly onRequest: RequestObserver
  /** The text format of Prometheus. */
  text(): string
}

/** Builds it. */
export function requestMetrics(): RequestMetrics {
  const durations = createRequestDurations()
  return {
    onRequest: ({ method, route, status, ms }) => durations.observe({ method, route, status }, ms / 1_000),
    text: durations.text,
  }
}
