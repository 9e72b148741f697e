/** This machine's clock and randomness; no other file of the core uses them. @module */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock, Ids, Logger, Random } from '../ports/world.js'

/** This machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      signal?.addEventListener('abort', end, { once: true })
    })
  },
}

/** The operating system's cryptographic randomness for bytes; `Math.random` for jitter. */
export const systemRandom: Random = {
  bytes: (length) => randomBytes(length),
  fraction: () => Math.random(),
}

/** Random version 4 UUIDs. */
export const systemIds: Ids = { next: () => randomUUID() }

/** A logger that discards everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * The time of a clock that stands still where the given one is set back, and then goes on. For durations inside of a
 * process: a pause must not last for as long as the clock was set back. It is no time of day after that.
 */
export function steadyNow(clock: Pick<Clock, 'now'>): () => number {
  let newest = Number.NEGATIVE_INFINITY
  let setBackMs = 0
  return () => {
    const now = clock.now() + setBackMs
    if (now < newest) setBackMs += newest - now
    newest = Math.max(newest, now)
    return newest
  }
}

/** A clock with the time of {@link steadyNow}. */
export function steadyClock(clock: Clock): Clock {
  return { now: steadyNow(clock), sleep: (ms, signal) => clock.sleep(ms, signal) }
}
