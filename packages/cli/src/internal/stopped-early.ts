/** Tells a start that failed by itself from one that was told to stop. @module */
import { setTimeout } from 'node:timers/promises'

/** What a command that runs from its sources is told once their compiler is gone. */
const compilerGone = /The service (?:is no longer running|was stopped)|EPIPE|esbuild/

/** How long the signal may take to reach this process after it ended the compiler, in milliseconds. */
const signalWithinMs = 5_000

/**
 * Whether a start that has just failed was told to stop, so that its error is none. Ctrl-C reaches every process of a
 * terminal: run from sources, the compiler that loads the next module is gone by then, and loading it fails.
 */
export async function isStoppedEarly(signal: AbortSignal, error: unknown): Promise<boolean> {
  // Node handles a signal after everything else that arrived in the same turn of the event loop.
  const withinMs = compilerGone.test(String(error)) ? signalWithinMs : 100
  const isOver = new AbortController()
  const aborted = () => isOver.abort()
  signal.addEventListener('abort', aborted, { once: true })
  if (!signal.aborted) await setTimeout(withinMs, undefined, { signal: isOver.signal }).catch(() => undefined)
  signal.removeEventListener('abort', aborted)
  return signal.aborted
}
