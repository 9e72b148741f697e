/** Counts open streams, per integration and per process. @module */

/** Counts streams. */
export interface Places {
  /** Counts a stream and returns the function that releases it once; null: a limit is reached. */
  take(integrationAddress: string): (() => void) | null
}

/** Creates the counter. */
export function createPlaces(limits: { readonly perIntegration: number; readonly perProcess: number }): Places {
  const open = new Map<string, number>()
  let total = 0
  return {
    take(integrationAddress) {
      const own = open.get(integrationAddress) ?? 0
      if (own >= limits.perIntegration || total >= limits.perProcess) return null
      open.set(integrationAddress, own + 1)
      total += 1
      let isReleased = false
      return () => {
        if (isReleased) return
        isReleased = true
        total -= 1
        const left = (open.get(integrationAddress) ?? 1) - 1
        if (left === 0) open.delete(integrationAddress)
        else open.set(integrationAddress, left)
      }
    },
  }
}
