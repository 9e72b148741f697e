/** Counts the store calls of all processes, so that the oracle can wait for them. @module */

export type StoreCalls = ReturnType<typeof storeCalls>

export function storeCalls() {
  let running = 0
  let ended = 0
  return {
    async run<T>(call: () => Promise<T>): Promise<T> {
      running += 1
      try {
        return await call()
      } finally {
        running -= 1
        ended += 1
      }
    },
    /** Waits for a pause within one. */
    async rest(pause: () => Promise<void>) {
      running -= 1
      try {
        await pause()
      } finally {
        running += 1
      }
    },
    /** How many have ended. */
    ended: () => ended,
    /** Resolves once each has ended, rests or waits for a lock, and what waited for them has come to its next pause. */
    async settled(waiting: (() => Promise<number>) | undefined) {
      do await new Promise((resolve) => setImmediate(resolve))
      while (running > 0 && (waiting === undefined || (await waiting()) < running))
    },
  }
}
