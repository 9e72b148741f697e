/** Records the progress of each payment, and the totals of a run. @module */
import type { DeliveryEvent } from './demo-events.js'

/** Progress of one payment. */
export interface Sighting {
  readonly indexed: boolean
  /** Highest version that was answered with 2xx. */
  readonly deliveredVersion: number
  /** Highest version that the receiver verified and stored. */
  readonly storedVersion: number
}

/** Totals of a run. */
export interface Figures {
  readonly delivered: number
  readonly retried: number
  readonly p50Ms: number | null
}

/** An attempt of a delivery. */
export type SeenDelivery = Pick<DeliveryEvent, 'txHash' | 'version' | 'attempt' | 'latencyMs' | 'outcome'> & {
  readonly deliveryId: string
}

/** Records progress and lets journeys wait for it. */
export interface Ledger {
  sawIndexed(txHash: string): void
  sawStored(txHash: string, version: number): void
  sawDelivery(delivery: SeenDelivery): void
  /** Resolves true once `condition` holds for the payment, false when `signal` aborts first. */
  until(txHash: string, condition: (sighting: Sighting) => boolean, signal: AbortSignal): Promise<boolean>
  /** The newest attempt, or null. */
  lastDelivery(): SeenDelivery | null
  /** Deletes the progress of a finished payment. */
  forget(txHash: string): void
  figures(): Figures
}

/** Number of newest latencies for the median: exact for hours, bounded for a run of days. */
const maxLatencies = 10_000

/** Creates an empty ledger. */
export function createLedger(): Ledger {
  const sightings = new Map<string, Sighting>()
  const listeners = new Set<() => void>()
  const latencies: number[] = []
  let delivered = 0
  let retried = 0
  let last: SeenDelivery | null = null

  function note(txHash: string, { indexed, deliveredVersion = 0, storedVersion = 0 }: Partial<Sighting>): void {
    const before = sightings.get(txHash) ?? { indexed: false, deliveredVersion: 0, storedVersion: 0 }
    sightings.set(txHash, {
      indexed: before.indexed || indexed === true,
      deliveredVersion: Math.max(before.deliveredVersion, deliveredVersion),
      storedVersion: Math.max(before.storedVersion, storedVersion),
    })
    for (const listener of [...listeners]) listener()
  }

  return {
    sawIndexed: (txHash) => note(txHash, { indexed: true }),
    sawStored: (txHash, version) => note(txHash, { storedVersion: version }),
    lastDelivery: () => last,
    sawDelivery(delivery) {
      const { txHash, version, attempt, latencyMs, outcome } = delivery
      last = delivery
      if (attempt > 1) retried += 1
      if (outcome !== 'delivered') return
      delivered += 1
      latencies[(delivered - 1) % maxLatencies] = latencyMs
      note(txHash, { deliveredVersion: version })
    },
    until(txHash, condition, signal) {
      const holds = () => {
        const sighting = sightings.get(txHash)
        return sighting !== undefined && condition(sighting)
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
    forget: (txHash) => void sightings.delete(txHash),
    figures: () => ({ delivered, retried, p50Ms: median(latencies) }),
  }
}

/** The lower median, or null for an empty list. */
function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}
