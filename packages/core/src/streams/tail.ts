/** Follows the end of the deliveries once for all streams of a process. @module */
import { describeError } from '../internal/describe-error.js'
import { createSleeper } from '../notifications/sleeper.js'
import type { DeliveryStore } from '../ports/store-deliveries.js'
import type { Clock, Logger } from '../ports/world.js'

/** Times of the tail, in milliseconds. */
export const tailDefaults = {
  /** Longest time between two reads: a wake may be lost. */
  pollMs: 1_000,
  /** Shortest time between two reads, whatever wakes it. */
  gapMs: 100,
} as const

/** The end of the deliveries. It reads the store only while a stream follows it. */
export interface Tail {
  /** The id up to which every delivery is stored; null: not known yet. */
  upTo(): string | null
  /** Calls `listener` when {@link upTo} changed. Returns the function that stops it. */
  follow(listener: () => void): () => void
  /** Reads soon: a delivery may have been stored. */
  wake(): void
}

/** The dependencies of the tail. */
export interface TailDeps {
  readonly deliveries: Pick<DeliveryStore, 'completeUpTo' | 'whenDue'>
  readonly clock: Pick<Clock, 'sleep'>
  readonly logger: Logger
}

/** Builds the tail of a process. */
export function createTail({ deliveries, clock, logger }: TailDeps): Tail {
  const listeners = new Set<() => void>()
  const sleeper = createSleeper(clock)
  let known: string | null = null
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    const stopWaiting = deliveries.whenDue(sleeper.wake)
    while (listeners.size > 0) {
      await read()
      if (listeners.size > 0) await sleeper.sleep(tailDefaults.pollMs)
      if (listeners.size > 0) await clock.sleep(tailDefaults.gapMs)
    }
    stopWaiting()
    // The next stream begins at its own time, not at this one.
    known = null
    isRunning = false
  }

  async function read(): Promise<void> {
    try {
      const upTo = await deliveries.completeUpTo()
      if (upTo === known) return
      known = upTo
      for (const listener of [...listeners]) listener()
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'The end of the deliveries could not be read; streams wait for it.')
    }
  }

  return {
    upTo: () => known,
    follow(listener) {
      const own = () => listener()
      listeners.add(own)
      if (!isRunning) void run()
      return () => {
        listeners.delete(own)
        if (listeners.size === 0) sleeper.wake()
      }
    },
    wake: () => sleeper.wake(),
  }
}
