/** Waits for a condition of the database that nothing announces. @module */
import type { Clock } from '../ports/world.js'

/** Time between two looks, in milliseconds. */
const pollMs = 100

/** Waits until something is true. @throws The signal's reason. */
export async function waitUntil(
  clock: Pick<Clock, 'sleep'>,
  isTrue: () => Promise<boolean>,
  signal: AbortSignal | undefined,
): Promise<void> {
  while (!(await isTrue())) {
    signal?.throwIfAborted()
    await clock.sleep(pollMs, signal)
  }
}
