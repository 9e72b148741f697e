/** The metrics on prom-client. @module */
import { Gauge, Registry } from 'prom-client'
import { answerWithin } from '../internal/answer-within.js'
import { version } from '../version.js'
import { addChainMetrics } from './chain-metrics.js'
import { addEventMetrics } from './event-metrics.js'
import type { Metrics, MetricsOptions, MetricsSources } from './metrics.js'
import { prefix } from './names.js'
import { processMetrics } from './process-metrics.js'
import { requestMetrics } from './request-metrics.js'

/** Builds the metrics, on a registry of their own: two servers in one process do not add up. */
export function prometheusMetrics(options: MetricsOptions = {}): Metrics {
  const { now = () => performance.now(), timeoutMs = 2_000 } = options
  const registry = new Registry()
  let sources: MetricsSources | null = null

  new Gauge({
    name: `${prefix}build_info`,
    help: 'Always 1; the version is the label.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1)
  addChainMetrics(registry, () => sources?.indexers.map((indexer) => indexer.status()) ?? [])
  new Gauge({
    name: `${prefix}next_delivery_seconds`,
    help: 'Time until the next delivery is due, 0 while one is; left out while none is pending, or the database does not answer.',
    // With a label that has no value, a gauge can have no value.
    labelNames: ['none'],
    registers: [registry],
    async collect() {
      this.reset()
      const deliveries = sources?.deliveries
      const ms = deliveries === undefined ? null : await answerWithin(() => deliveries.msUntilDue(), timeoutMs)
      if (ms !== null) this.set({}, ms / 1_000)
    },
  })
  const onEvent = addEventMetrics(registry)
  const requests = requestMetrics(now)
  return {
    onEvent,
    measured: requests.measured,
    contentType: registry.contentType,
    watch(chosen) {
      sources = chosen
    },
    async text() {
      const parts = await Promise.all([registry.metrics(), requests.text(), processMetrics().metrics()])
      return parts.map((part) => `${part.trimEnd()}\n`).join('\n')
    },
  }
}
