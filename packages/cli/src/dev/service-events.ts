/** Translates events of the service into events of the demo. @module */
import type { ServiceEvent } from '@payment-integration/core'
import type { DemoSink } from './demo-events.js'
import type { Ledger } from './ledger.js'

/** Stores the receiver's log line about a version until the service reports the attempt. */
export interface ReceiverNotes {
  put(txHash: string, version: number, note: string): void
  take(txHash: string, version: number): string | null
}

/** Creates empty notes. */
export function createReceiverNotes(): ReceiverNotes {
  const notes = new Map<string, string>()
  return {
    put: (txHash, version, note) => void notes.set(`${txHash}:${version}`, note),
    take(txHash, version) {
      const key = `${txHash}:${version}`
      const note = notes.get(key) ?? null
      notes.delete(key)
      return note
    },
  }
}

/**
 * Creates a listener for the service.
 * @param chainId - The chain of the demo's own payments; the simulated ones are reorganised on purpose.
 * @param stopping - Whether the run is shutting down: events are then ignored, because parts become unreachable.
 */
export function watchService(
  report: DemoSink,
  ledger: Ledger,
  notes: ReceiverNotes,
  chainId: number,
  stopping: () => boolean,
): (event: ServiceEvent) => void {
  return (event) => {
    if (stopping()) return
    switch (event.type) {
      case 'payment.indexed': {
        const { txHash, blockNumber } = event
        report({ event: event.type, chainId: String(event.chainId), txHash, blockNumber })
        return ledger.sawIndexed(txHash)
      }
      case 'payment.changed': {
        const { txHash, version, from, to } = event
        return report({ event: event.type, chainId: String(event.chainId), txHash, version, from, to })
      }
      case 'delivery.attempted': {
        const { deliveryId, txHash, version, attempt, status, reason, latencyMs, outcome, retryInMs } = event
        const facts = { txHash, version, attempt, status, reason, latencyMs, outcome, retryInMs }
        const receiver = notes.take(txHash, version)
        report({ event: event.type, chainId: String(event.chainId), ...facts, receiver })
        return ledger.sawDelivery({ deliveryId, ...facts })
      }
      case 'update.settled':
        if (event.outcome !== 'refused') return
        return report({ event: 'problem', reason: `Update ${event.updateId} was refused: ${event.reason ?? ''}` })
      case 'chain.failed':
        return report({ event: 'problem', reason: `Chain ${event.chainId}: ${event.message}` })
      case 'chain.reorganised':
        if (event.chainId !== chainId) return
        return report({
          event: 'problem',
          reason: `Chain ${event.chainId} was reorganised above block ${event.commonAncestor}.`,
        })
      case 'log.quarantined':
        return report({
          event: 'problem',
          reason: `Chain ${event.chainId}: log ${event.logIndex} of ${event.txHash} is no payment: ${event.reason}`,
        })
      case 'delivery.exhausted':
        return report({
          event: 'problem',
          reason: `The notification of version ${event.version} of ${event.txHash} is exhausted: ${event.reason ?? 'no answer'}`,
        })
      case 'endpoint.failing':
        return report({
          event: 'receiver.blocked',
          until: new Date(event.blockedUntil).toISOString(),
          failures: event.failures,
        })
      case 'endpoint.recovered':
      case 'chain.indexed':
      case 'chain.backfilled':
      case 'payment.additional':
      case 'payments.skipped':
    }
  }
}
