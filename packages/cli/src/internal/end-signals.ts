/** What signals that ask a process to end mean. @module */

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
