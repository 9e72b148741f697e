/** Counts of delivery attempts. No label names an integration, an address or a transaction. @module */
import type { ServiceEvent } from '@payment-integration/core'
import { createBuckets, heading } from './buckets.js'
import { durationBuckets, prefix, publishBuckets } from './names.js'

type Attempted = Extract<ServiceEvent, { type: 'delivery.attempted' }>

/** Result of an attempt. `other`: a status outside HTTP's classes, or a reason that is not listed. */
const results = [
  ...['2xx', '3xx', '4xx', '5xx'],
  ...['timeout', 'connection', 'refused_address', 'malformed_answer', 'secret_unreadable', 'other'],
] as const

const help = {
  attempted: 'Delivery attempts, by the status of the delivery afterwards.',
  results: 'Delivery attempts, by class of the answered status, or by the reason for a missing or malformed answer.',
  duration: 'Time from sending a notification to its answer, or to giving up.',
  published: 'Time from the commit of a snapshot to the 2xx that answers its notification. Replays are not counted.',
}

/** The metrics and their recorder. */
export interface AttemptMetrics {
  readonly attempted: (event: Attempted) => void
  /** The text format of Prometheus. */
  text(): string
}

/** Builds empty metrics, without the Prometheus library: thousands of attempts a second are counted here. */
export function createAttemptMetrics(): AttemptMetrics {
  const byResult = new Map<string, number>(results.map((result) => [result, 0]))
  const byOutcome = new Map<string, number>()
  const duration = createBuckets(durationBuckets)
  const published = createBuckets(publishBuckets)

  return {
    attempted({ status, reason, outcome, latencyMs, publishedMs }) {
      const isAnswered = status !== null && reason !== 'malformed_answer'
      const found = isAnswered ? `${Math.floor(status / 100)}xx` : reason
      const result = found !== null && byResult.has(found) ? found : 'other'
      byResult.set(result, (byResult.get(result) ?? 0) + 1)
      byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + 1)
      duration.observe(latencyMs / 1_000)
      if (publishedMs !== null) published.observe(publishedMs / 1_000)
    },
    text: () =>
      [
        ...counter('deliveries_attempted_total', help.attempted, 'outcome', byOutcome),
        ...counter('delivery_attempts_total', help.results, 'result', byResult),
        ...histogram('delivery_duration_seconds', help.duration, duration),
        ...histogram('published_to_delivered_seconds', help.published, published),
      ].join('\n'),
  }
}

function counter(name: string, about: string, label: string, values: ReadonlyMap<string, number>): string[] {
  const whole = `${prefix}${name}`
  const samples = [...values].map(([value, count]) => `${whole}{${label}="${value}"} ${count}`)
  return [...heading(whole, 'counter', about), ...samples]
}

function histogram(name: string, about: string, buckets: ReturnType<typeof createBuckets>): string[] {
  return [...heading(`${prefix}${name}`, 'histogram', about), ...buckets.lines(`${prefix}${name}`, '')]
}
