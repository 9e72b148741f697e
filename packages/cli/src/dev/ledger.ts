/** What the run has seen of each payment under way, and its figures. @module */
import type { DeliveryEvent } from './demo-events.js'

/** What was seen of one payment. */
export interface Sighting {
  readonly indexed: boolean
  /** Highest version whose delivery was answered with 2xx and settled. */
  readonly deliveredVersion: number
  /** Highest version that the receiver verified and stored. */
  readonly storedVersion: number
}

/** The figures of a run. */
export interface Figures {
  readonly delivered: number
  readonly retried: number
  readonly p50Ms: number | null
}

/** Collects sightings; journeys wait on it. */
export interface Ledger {
  sawIndexed(txHash: string): void
  sawStored(txHash: string, version: number): void
  sawDelivery(delivery: Pick<DeliveryEvent, 'txHash' | 'version' | 'attempt' | 'latencyMs' | 'outcome'>): void
  /** Resolves true as soon as `condition` holds for the payment, false when `signal` aborts first. */
  until(txHash: string, condition: (sighting: Sighting) => boolean, signal: AbortSignal): Promise<boolean>
  /** Drops what is known of a payment that is done. */
  forget(txHash: string): void
  figures(): Figures
}

/** Latencies kept for the median: enough to be exact for hours of a demo, bounded for a run of days. */
const keptLatencies = 10_000

/** An empty ledger. */
export function createLedger(): Ledger {
  const sightings = new Map<string, Sighting>()
  const listeners = new Set<() => void>()
  const latencies: number[] = []
  let delivered = 0
  let retried = 0

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
    sawDelivery({ txHash, version, attempt, latencyMs, outcome }) {
      if (attempt > 1) retried += 1
      if (outcome !== 'delivered') return
      delivered += 1
      latencies[(delivered - 1) % keptLatencies] = latencyMs
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

/** The lower median, or null of nothing. */
function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}
