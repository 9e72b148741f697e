/** Measures for how long a store is read. @module */
import type { Store } from '@payment-integration/core/ports'

/** A store that measures its reads. */
export interface TimedStore {
  readonly store: Store
  /** Milliseconds with at least one read in flight, and the number of reads, since the last call. */
  take(): { readonly ms: number; readonly reads: number }
}

/** The parts of a store that pages read. */
const parts = ['console', 'payments', 'deliveries', 'chains', 'integrations'] as const

/** Wraps the parts that pages read. */
export function timeReads(store: Store): TimedStore {
  let [ms, reads, inFlight, begun] = [0, 0, 0, 0]
  async function timed(call: () => unknown): Promise<unknown> {
    reads += 1
    if (inFlight === 0) begun = performance.now()
    inFlight += 1
    try {
      return await call()
    } finally {
      inFlight -= 1
      if (inFlight === 0) ms += performance.now() - begun
    }
  }
  const wrap = <Part extends object>(part: Part): Part =>
    Object.fromEntries(
      Object.entries(part).map(([name, call]) => [
        name,
        (...given: unknown[]) => timed(() => (call as (...given: unknown[]) => unknown)(...given)),
      ]),
    ) as Part
  return {
    store: { ...store, ...Object.fromEntries(parts.map((name) => [name, wrap(store[name])])) },
    take() {
      const taken = { ms, reads }
      ms = 0
      reads = 0
      return taken
    },
  }
}
