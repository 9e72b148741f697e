/** Parses times and lengths in text of other programs and people, by their form. @module */

const iso =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$/

/**
 * Unix milliseconds of an ISO 8601 date (midnight UTC), or of a date and a time with a zone; null for anything else, a
 * day that does not exist included. `Date.parse` alone takes `-1` and `soon 5` for days in 2001.
 */
export function parseInstant(value: unknown): number | null {
  const [text, day = ''] = (typeof value === 'string' && iso.exec(value)) || []
  const at = Date.parse(text ?? '')
  // `Date.parse` takes February 30 for a day of March.
  return Number.isNaN(at) || new Date(Date.parse(day)).toISOString().slice(0, day.length) !== day ? null : at
}

/** The bytes that a Content-Length declares; null when it is absent or no whole number. */
export function parseContentLength(value: unknown): number | null {
  return typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : null
}
