/**
 * Keeps requests to a provider below its rate limit: at most so many begin in a window, a few wait in line, the rest is
 * sent away. Each integration has a line of its own, and the lines take turns: nobody waits for another one's crowd,
 * and nobody longer than the longest wait.
 * @module
 */

/** A request may begin, or how long its caller is to wait, in milliseconds. */
export type Admission = { readonly kind: 'go' } | { readonly kind: 'shed'; readonly retryAfterMs: number }

/** What a gate is built with. */
export interface GateOptions {
  /** Most requests that begin within a window. */
  readonly perWindow: number
  readonly windowMs: number
  /**
   * Most requests that wait for their turn. Where they are that many, the longest line gives up its last place to a
   * shorter one.
   */
  readonly waiting: number
  /** Most of them in one line; more are sent away at once. @default waiting */
  readonly waitingEach?: number | undefined
  /**
   * Longest wait in line, in milliseconds: who cannot begin within it is sent away as soon as that is known, and takes
   * no turn.
   * @default none
   */
  readonly longestWaitMs?: number | undefined
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number
}

/** Admits requests. */
export interface Gate {
  /**
   * Waits for a turn, first come first served within a line. It never rejects.
   * @param whose - Names the line.
   * @default ''
   */
  enter(whose?: string): Promise<Admission>
  /**
   * Lets nobody begin for so long, in milliseconds: those who wait are sent away, and so is whoever comes meanwhile.
   */
  pause(ms: number): void
  /** Sends everybody away, for good. */
  close(): void
}

/**
 * How long callers are asked to wait when the gate is closed for good, in milliseconds: another process answers then.
 */
const closedMs = 1_000
/**
 * How much later than the longest wait one may begin, in milliseconds, as timers are never early and every window adds
 * to that.
 */
const latenessMs = 100

/** Somebody in a line. */
interface Waiter {
  readonly leave: (admission: Admission) => void
  /** When it came. */
  readonly since: number
}

/** Builds the gate. */
export function createGate(options: GateOptions): Gate {
  const { perWindow, windowMs, waiting, waitingEach = waiting, now } = options
  const { longestWaitMs = Number.POSITIVE_INFINITY } = options
  /** When the newest requests began, oldest first, at most `perWindow`. */
  const begun: number[] = []
  /** Who waits, by line, in the order of their turns; none is empty. */
  const lines = new Map<string, Waiter[]>()
  let count = 0
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
  /** What is answered to who would be in that place of a line, from 0. */
  function sentAway(whose: string, place: number): Admission {
    let before = place
    for (const [other, line] of lines) if (other !== whose) before += Math.min(line.length, place + 1)
    return { kind: 'shed', retryAfterMs: untilTurn(before) }
  }
  function begin(): boolean {
    if (untilTurn(0) > 0) return false
    if (begun.length === perWindow) begun.shift()
    begun.push(now())
    return true
  }
  /** Who is next. A line that had its turn goes behind the others. */
  function next(): Waiter | undefined {
    const [first] = lines
    if (first === undefined) return undefined
    const [whose, line] = first
    lines.delete(whose)
    const waiter = line.shift()
    if (line.length > 0) lines.set(whose, line)
    count -= 1
    return waiter
  }
  /** Sends away whoever waited too long by the time of the next turn, whose ever that is. */
  function sendLateAway(): void {
    const came = now() + untilTurn(0) - longestWaitMs - latenessMs
    for (const [whose, line] of lines) {
      // Who came first is first in its line.
      while (line[0] !== undefined && line[0].since < came) {
        count -= 1
        line.shift()?.leave(sentAway(whose, line.length))
      }
      if (line.length === 0) lines.delete(whose)
    }
  }
  function admit(): void {
    clearTimeout(timer)
    sendLateAway()
    while (count > 0 && begin()) {
      next()?.leave({ kind: 'go' })
      sendLateAway()
    }
    if (count > 0) timer = setTimeout(admit, Math.ceil(untilTurn(0)))
  }
  /**
   * Sends away the last of the longest line, for one that comes to a line of `length`. Returns whether there is room
   * now.
   */
  function makeRoom(length: number): boolean {
    if (count < waiting) return true
    let longest = ''
    for (const [whose, line] of lines) if (line.length > (lines.get(longest)?.length ?? 0)) longest = whose
    const line = lines.get(longest)
    if (line === undefined || line.length <= length + 1) return false
    count -= 1
    line.pop()?.leave(sentAway(longest, line.length))
    return true
  }
  function shed(retryAfterMs: number): void {
    clearTimeout(timer)
    const all = [...lines.values()].flat()
    lines.clear()
    count = 0
    for (const { leave } of all) leave({ kind: 'shed', retryAfterMs })
  }

  return {
    async enter(whose = '') {
      const paused = pausedUntil - now()
      if (paused > 0) return { kind: 'shed', retryAfterMs: paused === Number.POSITIVE_INFINITY ? closedMs : paused }
      if (count === 0 && begin()) return { kind: 'go' }
      const place = lines.get(whose)?.length ?? 0
      if (place >= waitingEach || !makeRoom(place)) return sentAway(whose, place)
      return new Promise((leave) => {
        const line = lines.get(whose) ?? []
        lines.set(whose, line)
        line.push({ leave, since: now() })
        count += 1
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
