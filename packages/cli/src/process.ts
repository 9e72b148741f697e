/** Signals, clean-ups and lost readers of the process. @module */
import { randomBytes } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { setTimeout as delay, setTimeout } from 'node:timers/promises'
import type { Io } from './io.js'

/** The signals that end a command: Ctrl-C, a supervisor's stop, and the terminal being closed. */
export const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** One of {@link endSignals}. */
export type EndSignal = (typeof endSignals)[number]

/** `stop`: end cleanly. `ignore`: says nothing new. `insist`: end at once. */
export type SignalMeaning = 'stop' | 'ignore' | 'insist'

/**
 * Copies of the first signal within this time are the same wish: a terminal sends Ctrl-C to every program that runs in it, and
 * npm sends it on to the one it started. Milliseconds.
 */
const copiesMs = 500

/**
 * Reads signals in the order in which they come: the first asks, a further one insists. A closed terminal asks and counts for
 * nothing else: supervisors send SIGHUP together with SIGTERM, and the two may arrive in either order.
 * @param now - A clock that never goes back, milliseconds.
 */
export function createSignalReader(now: () => number): (signal: EndSignal) => SignalMeaning {
  let first: { readonly signal: EndSignal; readonly at: number } | null = null
  return (signal) => {
    if (signal === 'SIGHUP') return 'stop'
    if (first === null) {
      first = { signal, at: now() }
      return 'stop'
    }
    return signal === first.signal && now() - first.at < copiesMs ? 'ignore' : 'insist'
  }
}

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

/** Resolves when the signal aborts, or at once when it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
  })
}

/** Whether writing failed because whoever read has gone: a pipe says EPIPE, a terminal that was closed says EIO. */
export function readerIsGone({ code }: NodeJS.ErrnoException, isTerminal: boolean): boolean {
  return code === 'EPIPE' || (isTerminal && code === 'EIO')
}

/** Those parts, with the clean-ups that `onExit` keeps. */
export interface IoBasics
  extends Pick<Io, 'onExit' | 'now' | 'sleep' | 'randomBytes' | 'userName' | 'temporaryFolder'> {
  readonly cleanUps: ReadonlySet<() => void>
}

/** A list of clean-ups of its own, and the clock, randomness and temporary folder of this machine. */
export function ioBasics(): IoBasics {
  const cleanUps = new Set<() => void>()
  return {
    cleanUps,
    onExit(cleanUp) {
      cleanUps.add(cleanUp)
      return () => void cleanUps.delete(cleanUp)
    },
    now: () => Date.now(),
    sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}).catch(() => {}),
    randomBytes,
    userName,
    temporaryFolder: tmpdir(),
  }
}

function userName(): string | null {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that no user has.
    return null
  }
}
