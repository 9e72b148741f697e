/** Counts service events. No label names an integration, an address or a transaction. @module */
import { updateOutcomes } from '@payment-integration/contract'
import type { EventSink } from '@payment-integration/core'
import type { Registry } from 'prom-client'
import type { AttemptMetrics } from './delivery-metrics.js'
import { type MetricsLibrary, prefix } from './metrics.js'

/**
 * Adds the metrics to a registry.
 * @param attempts - Counts delivery attempts, outside the registry.
 * @returns The sink that feeds them all.
 */
export function addEventMetrics(
  { Counter }: MetricsLibrary,
  registry: Registry,
  attempts: Pick<AttemptMetrics, 'attempted'>,
): EventSink {
  const registers = [registry]
  const indexed = new Counter({
    name: `${prefix}payments_indexed_total`,
    help: 'Payments stored for the first time. hidden: a further payment of a transaction for one integration; additional: one that names none.',
    labelNames: ['chain', 'kind'],
    registers,
  })
  const skipped = new Counter({
    name: `${prefix}payments_skipped_total`,
    help: 'Payments and bridge deposits of other integrations that PI_RECORD=own left out; those read again count again.',
    labelNames: ['chain'],
    registers,
  })
  const changed = new Counter({
    name: `${prefix}payments_changed_total`,
    help: 'New versions of payments after the first.',
    labelNames: ['chain'],
    registers,
  })
  const settled = new Counter({
    name: `${prefix}updates_settled_total`,
    help: 'Updates of processors and receipts, by outcome.',
    labelNames: ['outcome'],
    registers,
  })
  // A rate misses the first count of a series that begins with it.
  for (const outcome of updateOutcomes) settled.inc({ outcome }, 0)
  const exhausted = new Counter({
    name: `${prefix}deliveries_exhausted_total`,
    help: 'Deliveries that were given up. They stay listed, and can be replayed.',
    registers,
  })
  const turned = new Counter({
    name: `${prefix}notification_endpoint_transitions_total`,
    help: 'Times that a notification endpoint was blocked or recovered.',
    labelNames: ['to'],
    registers,
  })
  for (const to of ['failing', 'recovered']) turned.inc({ to }, 0)
  const quarantined = new Counter({
    name: `${prefix}logs_quarantined_total`,
    help: 'Logs of listed routers that are no payment and were skipped. Inspect them.',
    labelNames: ['chain'],
    registers,
  })
  const outages = new Counter({
    name: `${prefix}chain_outages_total`,
    help: 'Times that a chain could not be followed for several attempts in a row.',
    labelNames: ['chain'],
    registers,
  })

  return (event) => {
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
        return turned.inc({ to: 'failing' })
      case 'endpoint.recovered':
        return turned.inc({ to: 'recovered' })
      case 'log.quarantined':
        return quarantined.inc({ chain: event.chainId })
      case 'chain.failed':
        return outages.inc({ chain: event.chainId })
    }
  }
}
