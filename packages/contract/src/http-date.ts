/** Parses HTTP dates (RFC 9110 5.6.7) and `Retry-After` (10.2.3), which share that form. @module */

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The three forms that a recipient must accept: IMF-fixdate, and the obsolete ones of RFC 850 and asctime. */
const forms = [
  /^(?<weekday>[A-Z][a-z]{2}), (?<day>[0-9]{2}) (?<month>[A-Z][a-z]{2}) (?<year>[0-9]{4}) (?<time>[0-9:]{8}) GMT$/,
  /^(?<weekday>[A-Z][a-z]{5,8}), (?<day>[0-9]{2})-(?<month>[A-Z][a-z]{2})-(?<year>[0-9]{2}) (?<time>[0-9:]{8}) GMT$/,
  /^(?<weekday>[A-Z][a-z]{2}) (?<month>[A-Z][a-z]{2}) (?<day>[0-9 ][0-9]) (?<time>[0-9:]{8}) (?<year>[0-9]{4})$/,
]
/** The last second of a minute may be a leap second. */
const timeForm = /^(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)$/

/**
 * Unix milliseconds of an HTTP date in any of its three forms, or null for any other text. `Date.parse` is no check of
 * the form: it takes `-1` for a day in 2001.
 * @param now - Unix time in milliseconds. A year of two digits is at most 50 years after it.
 */
export function parseHttpDate(text: string, now: number): number | null {
  for (const form of forms) {
    const { weekday = '', day, month = '', year = '', time = '' } = form.exec(text)?.groups ?? {}
    if (!timeForm.test(time)) continue
    const midnight = new Date(0)
    midnight.setUTCFullYear(fullYear(year, now), months.indexOf(month), Number(day))
    const name = weekdays[midnight.getUTCDay()] ?? ''
    // February 30 and a month of another name have become another day.
    if (midnight.getUTCDate() !== Number(day) || months[midnight.getUTCMonth()] !== month) return null
    if (weekday !== name && (year.length === 2 || weekday !== name.slice(0, 3))) return null
    const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number)
    return midnight.getTime() + ((hours * 60 + minutes) * 60 + seconds) * 1_000
  }
  return null
}

function fullYear(text: string, now: number): number {
  if (text.length === 4) return Number(text)
  const current = new Date(now).getUTCFullYear()
  const year = current - (current % 100) + Number(text)
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
