/** The metrics of a server, on prom-client. @module */

import { loadPackage } from '@payment-integration/core/internal'
import type { Registry } from 'prom-client'
import { version } from '../version.js'
import { addChainMetrics } from './chain-metrics.js'
import { addDeliveryMetrics, createAttemptMetrics } from './delivery-metrics.js'
import { addEventMetrics } from './event-metrics.js'
import { type Metrics, type MetricsLibrary, type MetricsOptions, type MetricsSources, prefix } from './metrics.js'
import { requestMetrics } from './request-metrics.js'

let registry: Registry | undefined

/** All servers in a process share this registry: a second watch on the event loop would repeat the same values. */
function processMetrics({ collectDefaultMetrics, Registry }: MetricsLibrary): Registry {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  return registry
}

/** Reasons of rejected webhooks, by the end of the error code. */
const reasons = ['unsigned', 'forged', 'malformed'] as const

/** Adds the metrics to a registry. @returns Counts a rejected webhook by its code `ERR_PROVIDER_WEBHOOK_…`. */
function addIdentityMetrics({ Counter }: MetricsLibrary, registry: Registry): (code: string) => void {
  const refused = new Counter({
    name: `${prefix}identity_webhooks_refused_total`,
    help: 'Rejected webhooks of the identity provider. Repeated forged ones: the secret differs on the two sides.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of reasons) refused.inc({ reason }, 0)
  return (code) => {
    const reason = reasons.find((each) => code.endsWith(`_${each.toUpperCase()}`))
    if (reason !== undefined) refused.inc({ reason })
  }
}

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
