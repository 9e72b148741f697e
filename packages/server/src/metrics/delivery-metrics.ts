/**
 * Counts delivery attempts; measures the backlog and blocked endpoints at each scrape. No label names a tenant.
 * @module
 */
import type { ServiceEvent } from '@payment-integration/core'
import type { Registry } from 'prom-client'
import { answerWithin } from '../internal/cached-answer.js'
import type { MetricsLibrary, MetricsSources } from './metrics.js'
import { createBuckets, durationBuckets, formatHeading, prefix, publishBuckets } from './metrics.js'

type Attempted = Extract<ServiceEvent, { type: 'delivery.attempted' }>

const statusClasses = ['2xx', '3xx', '4xx', '5xx']
/** Reasons for a missing or malformed answer. `other`: also for a status outside HTTP's classes. */
const reasons = ['timeout', 'connection', 'refused_address', 'malformed_answer', 'secret_unreadable', 'other']

const help = {
  attempted: 'Delivery attempts, by the status of the delivery afterwards.',
  results: 'Delivery attempts, by class of the answered status, or by the reason for a missing or malformed answer.',
  duration: 'Time from sending a notification to its answer, or to giving up.',
  published: 'Time from the commit of a snapshot to the 2xx that answers its notification. Replays are not counted.',
}

/** Builds empty metrics, without the Prometheus library: thousands of attempts a second are counted here. */
export function createAttemptMetrics() {
  const byResult = new Map<string, number>([...statusClasses, ...reasons].map((result) => [result, 0]))
  const byOutcome = new Map<string, number>()
  const duration = createBuckets(durationBuckets)
  const published = createBuckets(publishBuckets)

  return {
    attempted({ status, reason, outcome, latencyMs, publishedMs }: Attempted): void {
      const isAnswered = status !== null && reason !== 'malformed_answer'
      const answer = isAnswered ? `${Math.floor(status / 100)}xx` : reason
      const result = answer !== null && byResult.has(answer) ? answer : 'other'
      byResult.set(result, (byResult.get(result) ?? 0) + 1)
      byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + 1)
      duration.observe(latencyMs / 1_000)
      if (publishedMs !== null) published.observe(publishedMs / 1_000)
    },
    /** The text format of Prometheus. */
    text: () =>
      [
        ...formatCounter('deliveries_attempted_total', help.attempted, 'outcome', byOutcome),
        ...formatCounter('delivery_attempts_total', help.results, 'result', byResult),
        ...formatHistogram('delivery_duration_seconds', help.duration, duration),
        ...formatHistogram('published_to_delivered_seconds', help.published, published),
      ].join('\n'),
  }
}

function formatCounter(name: string, about: string, label: string, values: ReadonlyMap<string, number>): string[] {
  const metric = `${prefix}${name}`
  const samples = [...values].map(([value, count]) => `${metric}{${label}="${value}"} ${count}`)
  return [...formatHeading(metric, 'counter', about), ...samples]
}

function formatHistogram(name: string, about: string, buckets: ReturnType<typeof createBuckets>): string[] {
  return [...formatHeading(`${prefix}${name}`, 'histogram', about), ...buckets.lines(`${prefix}${name}`, '')]
}

/** The most pending deliveries that are counted, which bounds the cost of a scrape. */
const maxPending = 10_000

const minShownSnapshotMs = 60_000

type Deliveries = MetricsSources['deliveries']

interface Reading {
  readonly name: string
  readonly help: string
  /** Null: no value, so the metric is left out. */
  read(deliveries: Deliveries): Promise<number | null>
}

/**
 * Adds the metrics to a registry.
 * @param sources - The queried stores; undefined: none yet.
 * @param timeoutMs - How long the database may take.
 * @returns A function to call before each scrape: it discards the backlog, which the scrape then reads only once.
 */
export function addDeliveryMetrics(
  { Gauge }: MetricsLibrary,
  registry: Registry,
  { sources, timeoutMs }: { readonly sources: () => Deliveries | undefined; readonly timeoutMs: number },
): () => void {
  let backlog: ReturnType<Deliveries['backlog']> | undefined
  const readBacklog = (deliveries: Deliveries) => (backlog ??= deliveries.backlog({ atMost: maxPending }))
  const inSeconds = (ms: number | null) => (ms === null ? null : ms / 1_000)
  const readings: readonly Reading[] = [
    {
      name: 'next_delivery_seconds',
      help: 'Time until the next delivery is due, 0 while one is; left out while none is pending, or the database does not answer.',
      read: async (deliveries) => inSeconds(await deliveries.msUntilDue()),
    },
    {
      name: 'deliveries_pending',
      help: `Deliveries that are not settled, of enabled integrations with a URL. Counted up to ${maxPending}: that many means so many or more.`,
      read: async (deliveries) => (await readBacklog(deliveries)).pending,
    },
    {
      name: 'oldest_due_delivery_seconds',
      help: 'How long the oldest delivery that waits only for a free slot has been due; left out while there is none, or the database does not answer.',
      read: async (deliveries) => inSeconds((await readBacklog(deliveries)).oldestDueMs),
    },
    {
      name: 'oldest_blocked_delivery_seconds',
      help: 'How long the oldest delivery to a blocked endpoint has been due.',
      read: async (deliveries) => inSeconds((await readBacklog(deliveries)).oldestBlockedMs),
    },
    {
      name: 'notification_endpoints_failing',
      help: 'Endpoints of notifications that are blocked now, and probed from time to time; left out while the database does not answer.',
      read: async (deliveries) => (await deliveries.endpoints()).filter(({ blocks }) => blocks > 0).length,
    },
  ]
  for (const { name, help, read } of readings)
    new Gauge({
      name: `${prefix}${name}`,
      help,
      // Without labels a gauge always has a value; with a label it can have none.
      labelNames: ['none'],
      registers: [registry],
      async collect() {
        this.reset()
        const deliveries = sources()
        const value = deliveries === undefined ? null : await answerWithin(() => read(deliveries), timeoutMs)
        if (value !== null) this.set({}, value)
      },
    })
  new Gauge({
    name: `${prefix}oldest_database_snapshot_seconds`,
    help: 'How long the oldest database snapshot that keeps dead rows of the outbox has been open; left out below a minute.',
    labelNames: ['holder', 'database_user', 'application'],
    registers: [registry],
    async collect() {
      this.reset()
      const deliveries = sources()
      const oldest = deliveries === undefined ? null : await answerWithin(() => deliveries.oldestSnapshot(), timeoutMs)
      // Without this limit, each short query of another session would start a series.
      if (oldest === null || oldest.ageMs < minShownSnapshotMs) return
      const { holder, databaseUser, application, ageMs } = oldest
      this.set({ holder, database_user: databaseUser ?? '', application }, ageMs / 1_000)
    },
  })
  return () => {
    backlog = undefined
  }
}
