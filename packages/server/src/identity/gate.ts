/** Keeps requests to a provider below its rate limit: at most so many begin in a window, a few wait in line, the rest is sent away. @module */

/** A request may begin, or how long its caller is to wait, in milliseconds. */
export type Admission = { readonly kind: 'go' } | { readonly kind: 'shed'; readonly retryAfterMs: number }

/** What a gate is built with. */
export interface GateOptions {
  /** Most requests that begin within a window. */
  readonly perWindow: number
  readonly windowMs: number
  /** Most requests that wait for their turn; more are sent away at once. */
  readonly waiting: number
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number
}

/** Admits requests. */
export interface Gate {
  /** Waits for a turn, first come first served. It never rejects. */
  enter(): Promise<Admission>
  /** Lets nobody begin for so long, in milliseconds: those who wait are sent away, and so is whoever comes meanwhile. */
  pause(ms: number): void
  /** Sends everybody away, for good. */
  close(): void
}

/** How long callers are asked to wait when the gate is closed for good, in milliseconds: another process answers then. */
const closedMs = 1_000

/** Builds the gate. */
export function createGate({ perWindow, windowMs, waiting, now }: GateOptions): Gate {
  /** When the newest requests began, oldest first, at most `perWindow`. */
  const begun: number[] = []
  const line: ((admission: Admission) => void)[] = []
  let pausedUntil = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  /** Milliseconds until the n-th request from now may begin, from 0. */
  function untilTurn(n: number): number {
    const free = perWindow - begun.length
    if (n < free) return 0
    const index = (n - free) % perWindow
    const windows = 1 + Math.floor((n - free) / perWindow)
    return Math.max(0, (begun[index] ?? now()) + windows * windowMs - now())
  }
  function begin(): boolean {
    if (untilTurn(0) > 0) return false
    if (begun.length === perWindow) begun.shift()
    begun.push(now())
    return true
  }
  function admit(): void {
    clearTimeout(timer)
    while (line.length > 0 && begin()) line.shift()?.({ kind: 'go' })
    if (line.length > 0) timer = setTimeout(admit, Math.ceil(untilTurn(0)))
  }
  function shed(retryAfterMs: number): void {
    clearTimeout(timer)
    for (const leave of line.splice(0)) leave({ kind: 'shed', retryAfterMs })
  }

  return {
    async enter() {
      const paused = pausedUntil - now()
      if (paused > 0) return { kind: 'shed', retryAfterMs: paused === Number.POSITIVE_INFINITY ? closedMs : paused }
      if (line.length === 0 && begin()) return { kind: 'go' }
      if (line.length >= waiting) return { kind: 'shed', retryAfterMs: untilTurn(line.length) }
      return new Promise((resolve) => {
        line.push(resolve)
        admit()
      })
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, now() + ms)
      shed(ms)
    },
    close() {
      pausedUntil = Number.POSITIVE_INFINITY
      shed(closedMs)
    },
  }
}
