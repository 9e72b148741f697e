/** Counts the store calls of all processes, so that the oracle can wait for them. @module */

export interface StoreCalls {
  /** Runs one. */
  run<T>(call: () => Promise<T>): Promise<T>
  /** Waits for a pause within one. */
  rest(pause: () => Promise<void>): Promise<void>
  /** How many have ended. */
  ended(): number
  /** Resolves once each has ended, rests or waits for a lock, and what waited for them has come to its next pause. */
  settled(waiting: (() => Promise<number>) | undefined): Promise<void>
}

export function storeCalls(): StoreCalls {
  let running = 0
  let ended = 0
  return {
    async run(call) {
      running += 1
      try {
        return await call()
      } finally {
        running -= 1
        ended += 1
      }
    },
    async rest(pause) {
      running -= 1
      try {
        await pause()
      } finally {
        running += 1
      }
    },
    ended: () => ended,
    async settled(waiting) {
      do await new Promise((resolve) => setImmediate(resolve))
      while (running > 0 && (waiting === undefined || (await waiting()) < running))
    },
  }
}
