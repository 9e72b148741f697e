/** A clock that a test moves. @module */
import type { Clock } from '@payment-integration/core/ports'

export interface ManualClock extends Clock {
  /** Moves on by `ms` milliseconds, waking sleepers at their times, in order. */
  advance(ms: number): Promise<void>
  /** How long each sleeper still has to sleep, in milliseconds, the shortest first. */
  sleepers(): number[]
}

/** Lets everything that can go on without a clock or a socket go on. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

export function manualClock(start = 1_700_000_000_000): ManualClock {
  let now = start
  const sleepers = new Set<{ readonly at: number; wake(): void }>()
  return {
    now: () => now,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const wake = () => {
          sleepers.delete(sleeper)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        const sleeper = { at: now + ms, wake }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', wake, { once: true })
      })
    },
    async advance(ms) {
      const end = now + ms
      for (;;) {
        await settled()
        const [next] = [...sleepers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (next === undefined) break
        now = Math.max(now, next.at)
        next.wake()
      }
      now = end
      await settled()
    },
    sleepers: () => [...sleepers].map(({ at }) => at - now).sort((a, b) => a - b),
  }
}
