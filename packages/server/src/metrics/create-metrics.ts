/** The metrics of a server, on prom-client. No label names an integration, an address or a transaction. @module */
import { updateOutcomes } from '@payment-integration/contract'
import type { EventSink } from '@payment-integration/core'
import { loadPackage } from '@payment-integration/core/internal'
import type { Registry } from 'prom-client'
import { version } from '../version.js'
import { addChainMetrics } from './chain-metrics.js'
import { addDeliveryMetrics, createAttemptMetrics } from './delivery-metrics.js'
import type { Metrics, MetricsLibrary, MetricsOptions, MetricsSources } from './metrics.js'
import { createRequestDurations, prefix } from './metrics.js'

/** The reasons of rejected webhooks. Each is the end of a code `ERR_PROVIDER_WEBHOOK_…`. */
const reasons = ['unsigned', 'forged', 'malformed'] as const

/**
 * Adds the metrics to a registry. Returns the functions that count in them.
 * @param attempts - Counts delivery attempts, outside the registry.
 */
function addCounters(
  { Counter }: MetricsLibrary,
  registry: Registry,
  attempts: ReturnType<typeof createAttemptMetrics>,
): Pick<Metrics, 'onEvent' | 'countRejectedWebhook'> {
  const counter = (name: string, help: string, ...labelNames: readonly string[]) =>
    new Counter({ name: `${prefix}${name}`, help, labelNames, registers: [registry] })
  const indexed = counter(
    'payments_indexed_total',
    'Payments stored for the first time. hidden: a further payment of a transaction for one integration; additional: one that names none.',
    'chain',
    'kind',
  )
  const skipped = counter(
    'payments_skipped_total',
    'Payments and bridge deposits of other integrations that PI_RECORD=own left out; those read again count again.',
    'chain',
  )
  const changed = counter('payments_changed_total', 'New versions of payments after the first.', 'chain')
  const settled = counter('updates_settled_total', 'Updates of processors and receipts, by outcome.', 'outcome')
  // Each series begins at 0: otherwise a rate in Prometheus misses its first count.
  for (const outcome of updateOutcomes) settled.inc({ outcome }, 0)
  const exhausted = counter(
    'deliveries_exhausted_total',
    'Deliveries that were given up. They stay listed, and can be replayed.',
  )
  const transitions = counter(
    'notification_endpoint_transitions_total',
    'Times that a notification endpoint was blocked or recovered.',
    'to',
  )
  for (const to of ['failing', 'recovered']) transitions.inc({ to }, 0)
  const quarantined = counter(
    'logs_quarantined_total',
    'Logs of listed routers that are no payment and were skipped. Inspect them.',
    'chain',
  )
  const outages = counter(
    'chain_outages_total',
    'Times that a chain could not be followed for several attempts in a row.',
    'chain',
  )

  const rejections = counter(
    'identity_webhooks_rejected_total',
    'Rejected webhooks of the identity provider. Repeated forged ones: the secret differs on the two sides.',
    'reason',
  )
  for (const reason of reasons) rejections.inc({ reason }, 0)

  function countRejectedWebhook(code: string): void {
    const reason = reasons.find((each) => code.endsWith(`_${each.toUpperCase()}`))
    if (reason !== undefined) rejections.inc({ reason })
  }

  const onEvent: EventSink = (event) => {
    switch (event.type) {
      case 'payment.indexed':
        return indexed.inc({ chain: event.chainId, kind: 'first' })
      case 'payment.additional':
        return indexed.inc({ chain: event.chainId, kind: event.integrationAddress === null ? 'additional' : 'hidden' })
      case 'payments.skipped':
        return skipped.inc({ chain: event.chainId }, event.count)
      case 'payment.changed':
        return changed.inc({ chain: event.chainId })
      case 'update.settled':
        return settled.inc({ outcome: event.outcome })
      case 'delivery.attempted':
        return attempts.attempted(event)
      case 'delivery.exhausted':
        return exhausted.inc()
      case 'endpoint.failing':
        return transitions.inc({ to: 'failing' })
      case 'endpoint.recovered':
        return transitions.inc({ to: 'recovered' })
      case 'log.quarantined':
        return quarantined.inc({ chain: event.chainId })
      case 'chain.failed':
        return outages.inc({ chain: event.chainId })
    }
  }
  return { onEvent, countRejectedWebhook }
}

let processRegistry: Registry | undefined

/** All servers in a process share this registry: a second watch on the event loop would repeat the same values. */
function getProcessRegistry({ collectDefaultMetrics, Registry }: MetricsLibrary): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry()
    collectDefaultMetrics({ register: processRegistry })
  }
  return processRegistry
}

/**
 * Creates the metrics on a separate registry, so that the counts of two servers in one process do not add up. The
 * library is loaded only now, because loading takes longer than a whole command may take.
 * @throws MissingPackageError `ERR_PACKAGE_MISSING` when prom-client is not installed.
 * @example
 * import { createMetrics } from '@payment-integration/server'
 * const metrics = await createMetrics({ timeoutMs: 1_000 })
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
  const discardBacklog = addDeliveryMetrics(library, registry, { getDeliveries: () => sources?.deliveries, timeoutMs })
  const attempts = createAttemptMetrics()
  const counters = addCounters(library, registry, attempts)
  const requests = createRequestDurations()
  return {
    ...counters,
    onRequest: requests.observe,
    contentType: registry.contentType,
    watch(chosen) {
      sources = chosen
    },
    async text() {
      discardBacklog()
      const parts = await Promise.all([
        registry.metrics(),
        attempts.text(),
        requests.text(),
        getProcessRegistry(library).metrics(),
      ])
      return parts.map((part) => `${part.trimEnd()}\n`).join('\n')
    },
  }
}
