/** A clock that a test moves, even during work over real sockets. @module */
import type { ManualClock } from '../../core/test/support/manual-clock.js'

export { type ManualClock, manualClock } from '../../core/test/support/manual-clock.js'

/**
 * Runs work over real sockets to its end. While no request is in flight, time advances by the shortest pause.
 * @param isPause - Whether a sleep of this length is a pause, and not the time-out of a request.
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
