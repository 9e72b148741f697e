/**
 * Parses times and lengths in text of other machines and people, by their form: HTTP dates (RFC 9110 5.6.7),
 * `Retry-After` (10.2.3), which share that form, ISO 8601, and `Content-Length`.
 * @module
 */

/** The obsolete forms that a recipient must accept. */
const rfc850 = /^((?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day), ([0-9]{2})-([A-Z][a-z]{2})-([0-9]{2}) ([0-9:]{8}) GMT$/
const asctime = /^([A-Z][a-z]{2}) ([A-Z][a-z]{2}) ([0-9 ][0-9]) ([0-9:]{8}) ([0-9]{4})$/

/**
 * Unix milliseconds of an HTTP date in any of its three forms, or null for any other text. `Date.parse` is no check of
 * the form: it takes `-1` for a day in 2001.
 * @param now - Unix time in milliseconds. A year of two digits is at most 50 years after it.
 */
export function parseHttpDate(text: string, now: number): number | null {
  const fixed = text
    .replace(rfc850, (_, weekday: string, day, month, year, time) => {
      return `${weekday.slice(0, 3)}, ${day} ${month} ${fullYear(Number(year), now)} ${time} GMT`
    })
    .replace(asctime, (_, weekday, month, day: string, time, year) => {
      return `${weekday}, ${day.replace(' ', '0')} ${month} ${year} ${time} GMT`
    })
  // The last second of a minute may be a leap second, which `Date` does not know.
  const known = fixed.replace(':60 ', ':59 ')
  const at = Date.parse(known)
  // `toUTCString` writes the current form: a text that comes back unchanged is such a date, with its own weekday.
  if (Number.isNaN(at) || known.length !== 29 || new Date(at).toUTCString() !== known) return null
  return known === fixed ? at : at + 1_000
}

function fullYear(twoDigits: number, now: number): number {
  const current = new Date(now).getUTCFullYear()
  const year = current - (current % 100) + twoDigits
  if (year > current + 50) return year - 100
  return year <= current - 50 ? year + 100 : year
}

/**
 * Whole milliseconds to wait from `now`: whole or decimal seconds, or an HTTP date, of which a past one is 0. Null when
 * the field is absent or malformed; the caller then waits for as long as without it. There is no upper limit.
 * @param now - Unix time in milliseconds.
 */
export function parseRetryAfter(value: string | null | undefined, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^[0-9]+(?:\.[0-9]+)?$/.test(text)) return Math.min(Math.round(Number(text) * 1_000), Number.MAX_SAFE_INTEGER)
  const at = parseHttpDate(text, now)
  return at === null ? null : Math.max(0, at - now)
}

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
