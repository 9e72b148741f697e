/** Counts delivery attempts; measures backlog and blocked endpoints at each scrape. @module */
import type { ServiceEvent } from '@payment-integration/core'
import type { Registry } from 'prom-client'
import { answerWithin } from '../internal/cached-answer.js'
import type { MetricsLibrary, MetricsSources } from './metrics.js'
import { createHistogram, durationBuckets, formatHeading, prefix, publishBuckets, toSeconds } from './metrics.js'

type Attempted = Extract<ServiceEvent, { type: 'delivery.attempted' }>

const statusClasses = ['2xx', '3xx', '4xx', '5xx']
/** Reasons for a missing or malformed answer. `other`: also for a status outside HTTP's classes. */
const reasons = ['timeout', 'connection', 'rejected_address', 'malformed_answer', 'secret_unreadable', 'other']

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
  const duration = createHistogram('delivery_duration_seconds', help.duration, durationBuckets)
  const published = createHistogram('published_to_delivered_seconds', help.published, publishBuckets)
  const [observeDuration, observePublished] = [duration.addSeries(''), published.addSeries('')]

  return {
    attempted({ status, reason, outcome, latencyMs, publishedMs }: Attempted): void {
      const isAnswered = status !== null && reason !== 'malformed_answer'
      const classOrReason = isAnswered ? `${Math.floor(status / 100)}xx` : reason
      const result = classOrReason !== null && byResult.has(classOrReason) ? classOrReason : 'other'
      byResult.set(result, (byResult.get(result) ?? 0) + 1)
      byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + 1)
      observeDuration(latencyMs / 1_000)
      if (publishedMs !== null) observePublished(publishedMs / 1_000)
    },
    /** The text format of Prometheus. */
    text: () =>
      [
        ...formatCounter('deliveries_attempted_total', help.attempted, 'outcome', byOutcome),
        ...formatCounter('delivery_attempts_total', help.results, 'result', byResult),
        ...duration.lines(),
        ...published.lines(),
      ].join('\n'),
  }
}

function formatCounter(name: string, about: string, label: string, values: ReadonlyMap<string, number>): string[] {
  const metric = `${prefix}${name}`
  const samples = [...values].map(([value, count]) => `${metric}{${label}="${value}"} ${count}`)
  return [...formatHeading(metric, 'counter', about), ...samples]
}

/** The most pending deliveries that are counted, which bounds the cost of a scrape. */
const maxPending = 10_000

const minShownSnapshotMs = 60_000

type Deliveries = MetricsSources['deliveries']

/**
 * Adds the metrics to a registry.
 * @param getDeliveries - Returns the stored deliveries to query; undefined: none yet.
 * @param timeoutMs - How long the database may take.
 * @returns A function to call before each scrape: it discards the backlog, which the scrape then reads only once.
 */
export function addDeliveryMetrics(
  { Gauge }: MetricsLibrary,
  registry: Registry,
  { getDeliveries, timeoutMs }: { readonly getDeliveries: () => Deliveries | undefined; readonly timeoutMs: number },
): () => void {
  let backlog: ReturnType<Deliveries['backlog']> | undefined
  const readBacklog = (deliveries: Deliveries) => (backlog ??= deliveries.backlog({ atMost: maxPending }))

  /** @param read - Resolves labels and value; null: no value, so the metric is left out. */
  function add(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: (deliveries: Deliveries) => Promise<readonly [Record<string, string>, number] | null>,
  ): void {
    new Gauge<string>({
      name: `${prefix}${name}`,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        this.reset()
        const deliveries = getDeliveries()
        const sample = deliveries === undefined ? null : await answerWithin(() => read(deliveries), timeoutMs)
        if (sample !== null) this.set(...sample)
      },
    })
  }
  function addPlain(name: string, help: string, read: (deliveries: Deliveries) => Promise<number | null>): void {
    // Without labels a gauge always has a value; with a label it can have none.
    add(name, help, ['none'], async (deliveries) => {
      const value = await read(deliveries)
      return value === null ? null : [{}, value]
    })
  }

  addPlain(
    'next_delivery_seconds',
    'Time until the next delivery is due, 0 while one is; left out while none is pending, or the database does not answer.',
    async (deliveries) => toSeconds(await deliveries.msUntilDue()),
  )
  addPlain(
    'deliveries_pending',
    `Deliveries that are not settled, of enabled integrations with a URL. Counted up to ${maxPending}: that value means that many or more.`,
    async (deliveries) => (await readBacklog(deliveries)).pending,
  )
  addPlain(
    'oldest_due_delivery_seconds',
    'How long the oldest delivery that waits only for a free slot has been due; left out while there is none, or the database does not answer.',
    async (deliveries) => toSeconds((await readBacklog(deliveries)).oldestDueMs),
  )
  addPlain(
    'oldest_blocked_delivery_seconds',
    'How long the oldest delivery to a blocked endpoint has been due.',
    async (deliveries) => toSeconds((await readBacklog(deliveries)).oldestBlockedMs),
  )
  addPlain(
    'notification_endpoints_failing',
    'Endpoints of notifications that are blocked now, and probed from time to time; left out while the database does not answer.',
    async (deliveries) => (await deliveries.endpoints()).filter(({ blocks }) => blocks > 0).length,
  )
  add(
    'oldest_database_snapshot_seconds',
    'How long the oldest database snapshot that keeps dead rows of the outbox has been open; left out below a minute.',
    ['holder', 'database_user', 'application'],
    async (deliveries) => {
      const oldest = await deliveries.oldestSnapshot()
      // Without this limit, each short query of another session would start a series.
      if (oldest === null || oldest.ageMs < minShownSnapshotMs) return null
      const { holder, databaseUser, application, ageMs } = oldest
      return [{ holder, database_user: databaseUser ?? '', application }, ageMs / 1_000]
    },
  )
  return () => {
    backlog = undefined
  }
}
