/** Translates events of the service, and records the progress of each payment of the demo. @module */
import type { ServiceEvent } from '@payment-integration/core'
import type { DeliveryEvent, DemoSink } from './demo-events.js'

/**
 * Creates a listener for the service.
 * @param chainId - The chain of the demo's own payments; the simulated chains are reorganized on purpose.
 * @param isStopping - Whether the run is shutting down: events are then ignored, because the parts stop one by one.
 */
export function watchService(
  report: DemoSink,
  tracker: PaymentTracker,
  chainId: number,
  isStopping: () => boolean,
): (event: ServiceEvent) => void {
  const reportProblem = (reason: string) => report({ event: 'problem', reason })
  return (event) => {
    if (isStopping()) return
    switch (event.type) {
      case 'payment.indexed': {
        const { txHash, blockNumber } = event
        report({ event: event.type, chainId: String(event.chainId), txHash, blockNumber })
        return tracker.sawIndexed(txHash)
      }
      case 'payment.changed': {
        const { txHash, version, from, to } = event
        return report({ event: event.type, chainId: String(event.chainId), txHash, version, from, to })
      }
      case 'delivery.attempted': {
        const { deliveryId, txHash, version, attempt, status, reason, latencyMs, outcome, retryInMs } = event
        const facts = { txHash, version, attempt, status, reason, latencyMs, outcome, retryInMs }
        const receiver = tracker.takeReceiverLine(txHash, version)
        report({ event: event.type, chainId: String(event.chainId), ...facts, receiver })
        return tracker.sawDelivery({ deliveryId, ...facts })
      }
      case 'update.settled':
        if (event.outcome !== 'rejected') return
        return reportProblem(`Update ${event.updateId} was rejected: ${event.reason ?? ''}`)
      case 'chain.failed':
        return reportProblem(`Chain ${event.chainId}: ${event.message}`)
      case 'chain.reorganized':
        if (event.chainId !== chainId) return
        return reportProblem(`Chain ${event.chainId} was reorganized above block ${event.commonAncestor}.`)
      case 'log.quarantined':
        return reportProblem(
          `Chain ${event.chainId}: log ${event.logIndex} of ${event.txHash} is not a payment: ${event.reason}`,
        )
      case 'delivery.exhausted':
        return reportProblem(
          `The notification of version ${event.version} of ${event.txHash} is exhausted: ${event.reason ?? 'no answer'}`,
        )
      case 'endpoint.failing':
        return report({
          event: 'receiver.blocked',
          until: new Date(event.blockedUntil).toISOString(),
          failures: event.failures,
        })
    }
  }
}

export interface PaymentProgress {
  readonly indexed: boolean
  /** The highest version that the receiver answered with 2xx. */
  readonly deliveredVersion: number
  /** The highest version that the receiver verified and stored. */
  readonly storedVersion: number
}

type SeenDelivery = Pick<DeliveryEvent, 'txHash' | 'version' | 'attempt' | 'latencyMs' | 'outcome'> & {
  readonly deliveryId: string
}

export type PaymentTracker = ReturnType<typeof createPaymentTracker>

/** The median covers this many of the newest latencies, so that memory stays bounded in a run of days. */
const maxLatencies = 10_000

/** Records the progress of each payment, and lets callers wait for it. */
export function createPaymentTracker() {
  const progressByHash = new Map<string, PaymentProgress>()
  /** The receiver's log line about a version, until the service reports the attempt. */
  const receiverLines = new Map<string, string>()
  const listeners = new Set<() => void>()
  const latencies: number[] = []
  let delivered = 0
  let retried = 0
  let last: SeenDelivery | null = null

  function addProgress(
    txHash: string,
    { indexed, deliveredVersion = 0, storedVersion = 0 }: Partial<PaymentProgress>,
  ): void {
    const before = progressByHash.get(txHash) ?? { indexed: false, deliveredVersion: 0, storedVersion: 0 }
    progressByHash.set(txHash, {
      indexed: before.indexed || indexed === true,
      deliveredVersion: Math.max(before.deliveredVersion, deliveredVersion),
      storedVersion: Math.max(before.storedVersion, storedVersion),
    })
    for (const listener of [...listeners]) listener()
  }

  return {
    sawIndexed: (txHash: string) => addProgress(txHash, { indexed: true }),
    /** @param line - The receiver's log line about the version. */
    sawStored(txHash: string, version: number, line: string): void {
      receiverLines.set(`${txHash}:${version}`, line)
      addProgress(txHash, { storedVersion: version })
    },
    /** Returns the log line once. */
    takeReceiverLine(txHash: string, version: number): string | null {
      const key = `${txHash}:${version}`
      const line = receiverLines.get(key) ?? null
      receiverLines.delete(key)
      return line
    },
    lastDelivery: (): SeenDelivery | null => last,
    sawDelivery(delivery: SeenDelivery): void {
      const { txHash, version, attempt, latencyMs, outcome } = delivery
      last = delivery
      if (attempt > 1) retried += 1
      if (outcome !== 'delivered') return
      delivered += 1
      latencies[(delivered - 1) % maxLatencies] = latencyMs
      addProgress(txHash, { deliveredVersion: version })
    },
    /** Resolves true once `condition` holds for the payment, false when `signal` aborts first. */
    until(txHash: string, condition: (progress: PaymentProgress) => boolean, signal: AbortSignal): Promise<boolean> {
      const holds = () => {
        const progress = progressByHash.get(txHash)
        return progress !== undefined && condition(progress)
      }
      return new Promise((resolve) => {
        const check = () => {
          if (!signal.aborted && !holds()) return
          listeners.delete(check)
          signal.removeEventListener('abort', check)
          resolve(!signal.aborted)
        }
        listeners.add(check)
        signal.addEventListener('abort', check)
        check()
      })
    },
    forget: (txHash: string) => void progressByHash.delete(txHash),
    figures: () => ({ delivered, retried, p50Ms: median(latencies) }),
  }
}

/** The lower median, or null for an empty list. */
function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}
