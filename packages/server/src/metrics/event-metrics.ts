/** Counts of what happened, from the stream of events. No label names an integration, an address or a transaction. @module */
import type { EventSink } from '@payment-integration/core'
import { Counter, Histogram, type Registry } from 'prom-client'
import { durationBuckets, prefix } from './names.js'

/** Adds the metrics to a registry. @returns The sink that feeds them. */
export function addEventMetrics(registry: Registry): EventSink {
  const registers = [registry]
  const indexed = new Counter({
    name: `${prefix}payments_indexed_total`,
    help: 'Payments stored for the first time; additional ones are further payments of a transaction.',
    labelNames: ['chain', 'kind'],
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
    help: 'Updates of processors and receipts, by what became of them.',
    labelNames: ['outcome'],
    registers,
  })
  const attempted = new Counter({
    name: `${prefix}deliveries_attempted_total`,
    help: 'Attempts of notifications, by where the delivery stands after them.',
    labelNames: ['outcome'],
    registers,
  })
  const deliveryDuration = new Histogram({
    name: `${prefix}delivery_duration_seconds`,
    help: 'Time from sending a notification to its answer, or to giving up.',
    buckets: durationBuckets,
    registers,
  })
  const quarantined = new Counter({
    name: `${prefix}logs_quarantined_total`,
    help: 'Logs of listed routers that are no payment and were left out. Somebody should look at them.',
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
        return indexed.inc({ chain: event.chainId, kind: 'additional' })
      case 'payment.changed':
        return changed.inc({ chain: event.chainId })
      case 'update.settled':
        return settled.inc({ outcome: event.outcome })
      case 'delivery.attempted':
        attempted.inc({ outcome: event.outcome })
        return deliveryDuration.observe(event.latencyMs / 1_000)
      case 'log.quarantined':
        return quarantined.inc({ chain: event.chainId })
      case 'chain.failed':
        return outages.inc({ chain: event.chainId })
    }
  }
}
