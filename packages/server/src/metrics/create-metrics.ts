/** The metrics of a server, on prom-client. @module */
import { loadPackage } from '@payment-integration/core'
import { version } from '../version.js'
import { createAttemptMetrics } from './attempt-metrics.js'
import { addChainMetrics } from './chain-metrics.js'
import { addDeliveryMetrics } from './delivery-metrics.js'
import { addEventMetrics } from './event-metrics.js'
import { addIdentityMetrics } from './identity-metrics.js'
import type { Metrics, MetricsOptions, MetricsSources } from './metrics.js'
import { prefix } from './names.js'
import { processMetrics } from './process-metrics.js'
import { requestMetrics } from './request-metrics.js'

/**
 * Builds the metrics on a separate registry, so that two servers in one process do not add up. The library is loaded
 * only now: loading takes longer than a whole command may take.
 * @throws MissingPackageError `ERR_PACKAGE_MISSING` when prom-client is not installed.
 */
export async function createMetrics(options: MetricsOptions = {}): Promise<Metrics> {
  const library = await loadPackage(
    'prom-client',
    'createMetrics (PI_ADMIN_PORT, PI_METRICS_TOKEN)',
    () => import('prom-client'),
  )
  const { Gauge, Registry } = library
  const { timeoutMs = 2_000, callPrices = new Map<number, number>() } = options
  const registry = new Registry()
  let sources: MetricsSources | null = null

  new Gauge({
    name: `${prefix}build_info`,
    help: 'Always 1; the version is the label.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1)
  addChainMetrics(library, registry, () => sources?.indexers.map((indexer) => indexer.status()) ?? [], callPrices)
  const askAgain = addDeliveryMetrics(library, registry, { sources: () => sources?.deliveries, timeoutMs })
  const attempts = createAttemptMetrics()
  const onEvent = addEventMetrics(library, registry, attempts)
  const webhookRefused = addIdentityMetrics(library, registry)
  const requests = requestMetrics()
  return {
    onEvent,
    webhookRefused,
    onRequest: requests.onRequest,
    contentType: registry.contentType,
    watch(chosen) {
      sources = chosen
    },
    async text() {
      askAgain()
      const parts = await Promise.all([
        registry.metrics(),
        attempts.text(),
        requests.text(),
        processMetrics(library).metrics(),
      ])
      return parts.map((part) => `${part.trimEnd()}\n`).join('\n')
    },
  }
}
