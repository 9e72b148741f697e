/** What must end before time goes on; each test support that works on other threads adds its own. */
export const settling: (() => Promise<void>)[] = []

export type ManualClock = ReturnType<typeof manualClock>

/** A clock that stands still until it is moved. @param start - Unix time in milliseconds. */
export function manualClock(start = Date.UTC(2026, 0, 1)) {
  let now = start
  const sleeping = new Set<{ readonly at: number; wake(): void }>()
  /** Every length that was slept for, in order, in milliseconds. */
  const slept: number[] = []
  const soonest = () => [...sleeping].sort((a, b) => a.at - b.at)
  return {
    slept,
    now: () => now,
    /** How long each sleeper still has to sleep, in milliseconds, the shortest first. */
    sleepers: () => soonest().map(({ at }) => at - now),
    sleep(ms: number, signal?: AbortSignal): Promise<void> {
      if (signal?.aborted) return Promise.resolve()
      slept.push(ms)
      return new Promise((resolve) => {
        const sleeper = {
          at: now + ms,
          wake() {
            sleeping.delete(sleeper)
            signal?.removeEventListener('abort', sleeper.wake)
            resolve()
          },
        }
        sleeping.add(sleeper)
        signal?.addEventListener('abort', sleeper.wake, { once: true })
      })
    },
    /** Moves time forward, waking sleepers at their times and letting each one's work run before time goes on. */
    async advance(ms: number) {
      const target = now + ms
      await turns()
      for (let [next] = soonest(); next !== undefined && next.at <= target; [next] = soonest()) {
        now = Math.max(now, next.at)
        next.wake()
        await turns()
      }
      now = target
      await turns()
    },
  }
}

/**
 * Lets promises, immediates and calls of stores run. Work on other threads may take longer: wait for its effect with
 * `until`.
 */
export async function turns(): Promise<void> {
  for (const settle of settling) await settle()
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
