/** Moments on the command line. @module */
import { InvalidArgumentError } from 'commander'
import { durationMs } from './duration.js'

const expected =
  'Expected a time such as 2026-03-01, 2026-03-01T09:30:00Z or 2026-03-01T09:30+01:00, or how long ago: 90m, 2h, 7d.'
const isoTime = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/**
 * A parser of moments: an ISO 8601 date (its first moment in UTC), a date and time with its zone, or how long ago it was.
 * A time without a zone is refused, because it would mean another moment on each machine.
 * @param now - Unix time in milliseconds.
 * @returns A function to unix time in milliseconds; it throws InvalidArgumentError for anything else, and for days that do not exist.
 */
export function moment(now: () => number): (text: string) => number {
  return (text) => {
    const ago = durationMs(text)
    if (ago !== null) return Math.max(0, now() - ago)
    const [, day] = isoTime.exec(text) ?? []
    const at = Date.parse(text)
    // A day such as February 30 is read as one of March.
    if (day === undefined || Number.isNaN(at) || new Date(Date.parse(day)).toISOString().slice(0, 10) !== day)
      throw new InvalidArgumentError(expected)
    if (at < 0) throw new InvalidArgumentError('Expected a time since 1970.')
    return at
  }
}
