/** Runs loops that belong together: a failed one ends all. @module */
import { setMaxListeners } from 'node:events'
import type { Loop } from '../service-types.js'

/**
 * Runs loops until the signal aborts or one of them fails, and drains all of them.
 * @throws The error of the first that failed.
 */
export async function runLoops(loops: readonly Loop[], signal: AbortSignal): Promise<void> {
  const own = new AbortController()
  // Each chain listens to it, in several places.
  setMaxListeners(0, own.signal)
  const relay = () => own.abort(signal.reason)
  if (signal.aborted) relay()
  else signal.addEventListener('abort', relay, { once: true })
  const failures: unknown[] = []
  const runs = loops.map((loop) =>
    loop.run(own.signal).catch((error: unknown) => {
      failures.push(error)
      own.abort(error)
    }),
  )
  await Promise.all(runs)
  signal.removeEventListener('abort', relay)
  if (failures.length > 0) throw failures[0]
}
