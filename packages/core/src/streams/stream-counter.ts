/** Counts open streams, per integration and per process. @module */

/** Counts streams. */
export interface StreamCounter {
  /** Counts a stream and returns the function that releases it once; null: a limit is reached. */
  open(integrationAddress: string): (() => void) | null
}

/** Creates the counter. */
export function createStreamCounter(limits: {
  readonly perIntegration: number
  readonly perProcess: number
}): StreamCounter {
  const counts = new Map<string, number>()
  let total = 0
  return {
    open(integrationAddress) {
      const own = counts.get(integrationAddress) ?? 0
      if (own >= limits.perIntegration || total >= limits.perProcess) return null
      counts.set(integrationAddress, own + 1)
      total += 1
      let isReleased = false
      return () => {
        if (isReleased) return
        isReleased = true
        total -= 1
        const left = (counts.get(integrationAddress) ?? 1) - 1
        if (left === 0) counts.delete(integrationAddress)
        else counts.set(integrationAddress, left)
      }
    },
  }
}
