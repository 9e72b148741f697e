/** Moments for people. @module */

/** `2026-03-01 09:30:00Z`: the same on every machine, and it sorts. Null: `-`. */
export function momentText(ms: number | null): string {
  return ms === null ? '-' : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** The same with milliseconds, for what happens many times a second. */
export function exactMomentText(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ')
}
