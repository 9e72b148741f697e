/** A clock that a test moves. @module */
import type { Clock } from '@payment-integration/core/ports'

export interface ManualClock extends Clock {
  /** Moves on by `ms` milliseconds, waking sleepers at their times, in order. */
  advance(ms: number): Promise<void>
  /** How long each sleeper still has to sleep, in milliseconds, the shortest first. */
  sleepers(): number[]
}

/**
 * Runs work over real sockets to its end: time passes only while nothing is asked, by the shortest pause that is slept.
 * @param isPause - Whether a sleep of so many milliseconds is a pause, and not the time-out of a request in flight.
 */
export async function runThrough<T>(
  clock: ManualClock,
  work: Promise<T>,
  isPause: (ms: number) => boolean,
): Promise<T> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  work.then(end, end)
  for (let idle = 0; !isOver; ) {
    await new Promise((resolve) => setTimeout(resolve, 0))
    const [shortest] = clock.sleepers()
    idle = shortest !== undefined && clock.sleepers().every(isPause) ? idle + 1 : 0
    if (idle < 3) continue
    idle = 0
    await clock.advance(shortest ?? 0)
  }
  return work
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
