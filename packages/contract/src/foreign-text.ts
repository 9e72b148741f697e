/** Parses text of other machines: bounded JSON, HTTP dates (RFC 9110), ISO 8601 times, URLs. @module */

/**
 * Deepest nesting of a foreign document. No document of a node, a provider or a feed has more than ten levels;
 * `JSON.parse` takes seconds for millions of them.
 */
const maxForeignNesting = 32
/**
 * The most objects and lists of a document: `base`, and one more per 32 bytes. Small answers of nodes may hold many
 * empty lists; large ones have 100 bytes or more per object. A parsed empty object takes 20 times its bytes in memory.
 */
const maxBrackets = { base: 10_000, bytesEach: 32 }
/** The most commas, by the same formula: `JSON.parse` takes seconds for a million short members of one object. */
const maxMembers = { base: 20_000, bytesEach: 16 }

/** Every code of this package. */
export type ForeignErrorCode = 'ERR_ANSWER_MALFORMED' | 'ERR_JSON_EXCESSIVE'

/** Base of the errors of this package. The calling package turns each into an error of its own. */
export abstract class ForeignError extends Error {
  abstract readonly code: ForeignErrorCode
  readonly retryable = false
}

/** A foreign document is too large, is nested too deeply, or has too many parts. It was not parsed. */
export class ExcessiveJsonError extends ForeignError {
  override readonly name = 'ExcessiveJsonError'
  readonly code = 'ERR_JSON_EXCESSIVE'
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

/** Checks nesting, brackets and members outside of strings, not the syntax. @throws {@link ExcessiveJsonError} */
export function assertModestJson(bytes: Uint8Array): void {
  let depth = 0
  let bracketsLeft = maxBrackets.base + bytes.length / maxBrackets.bytesEach
  let membersLeft = maxMembers.base + bytes.length / maxMembers.bytesEach
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number
    if (byte === quote) {
      index = findStringEnd(bytes, index)
      if (index === -1) return
      continue
    }
    // `[` and `{` differ in one bit, and so do `]` and `}`.
    const bracket = byte | 0x20
    if (bracket === 0x7d) depth -= 1
    if (byte === comma) membersLeft -= 1
    if (membersLeft < 0) throw new ExcessiveJsonError('the JSON has too many members for its size')
    if (bracket !== 0x7b) continue
    depth += 1
    bracketsLeft -= 1
    if (depth > maxForeignNesting) throw new ExcessiveJsonError(`the JSON is nested over ${maxForeignNesting} levels`)
    if (bracketsLeft < 0) throw new ExcessiveJsonError('the JSON has too many objects and lists for its size')
  }
}

/** Finds the quote that ends the string that begins at `start`; -1 when the string has no end. */
function findStringEnd(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(quote, start + 1)
  for (; end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let beforeSlashes = end - 1
    while (bytes[beforeSlashes] === backslash) beforeSlashes -= 1
    if ((end - beforeSlashes) % 2 === 1) break
  }
  return end
}

/** Parses a document whose length the caller has limited. @throws {@link ExcessiveJsonError}, SyntaxError */
export function parseForeignJson(bytes: Uint8Array): unknown {
  assertModestJson(bytes)
  return JSON.parse(new TextDecoder().decode(bytes))
}

/** Reads a body like {@link readForeignBytes}, and parses it like {@link parseForeignJson}. */
export async function readForeignJson(response: Response, maxBytes: number): Promise<unknown> {
  return parseForeignJson(await readForeignBytes(response, maxBytes))
}

/** Reads a body; cancels one of more than `maxBytes`. @throws {@link ExcessiveJsonError} */
export async function readForeignBytes(
  response: Pick<Response, 'body'>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Not every runtime can iterate over a stream.
  const reader = response.body?.getReader()
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > maxBytes) {
      void reader.cancel().catch(() => undefined)
      throw new ExcessiveJsonError(`the answer is larger than ${maxBytes} bytes`)
    }
    chunks.push(value)
  }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}

/** The obsolete forms of an HTTP date, which a recipient must accept. */
const rfc850 = /^((?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day), ([0-9]{2})-([A-Z][a-z]{2})-([0-9]{2}) ([0-9:]{8}) GMT$/
const asctime = /^([A-Z][a-z]{2}) ([A-Z][a-z]{2}) ([0-9 ][0-9]) ([0-9:]{8}) ([0-9]{4})$/

/**
 * Unix milliseconds of an HTTP date in any of its three forms, or null for any other text. `Date.parse` is no check of
 * the form: it takes `-1` for a day in 2001.
 * @param now - Unix time in milliseconds. A year of two digits is at most 50 years after it.
 */
export function parseHttpDate(text: string, now: number): number | null {
  const currentForm = text
    .replace(rfc850, (_, weekday: string, day, month, year, time) => {
      return `${weekday.slice(0, 3)}, ${day} ${month} ${expandYear(Number(year), now)} ${time} GMT`
    })
    .replace(asctime, (_, weekday, month, day: string, time, year) => {
      return `${weekday}, ${day.replace(' ', '0')} ${month} ${year} ${time} GMT`
    })
  // The last second of a minute may be a leap second, which `Date` does not know.
  const withoutLeapSecond = currentForm.replace(':60 ', ':59 ')
  const unixMs = Date.parse(withoutLeapSecond)
  // `toUTCString` writes the current form. A text that comes back unchanged has this form and the right weekday.
  if (Number.isNaN(unixMs) || withoutLeapSecond.length !== 29 || new Date(unixMs).toUTCString() !== withoutLeapSecond)
    return null
  return withoutLeapSecond === currentForm ? unixMs : unixMs + 1_000
}

function expandYear(twoDigits: number, now: number): number {
  const current = new Date(now).getUTCFullYear()
  const year = current - (current % 100) + twoDigits
  if (year > current + 50) return year - 100
  return year <= current - 50 ? year + 100 : year
}

/**
 * Parses seconds (whole or decimal) or an HTTP date to whole milliseconds from `now`; a past date gives 0. Null: the
 * field is absent or malformed. There is no upper limit.
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

/**
 * Parses an absolute URL, or returns null. It replaces `URL.canParse`: after some thousand calls, Node 20 wrongly
 * rejects a URL with a letter such as `ü`. `URL.parse` needs Node 22.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/**
 * Finds a character of a PostgreSQL URL that must be encoded. A `#`, `/` or `?` ends a user name or password before the
 * `@`. A `#` elsewhere begins a fragment, which a database does not use. A `%` without a code cannot be decoded.
 * Null: there is no such character. The returned problem repeats no part of the URL.
 */
export function findDatabaseUrlProblem(value: string): string | null {
  const afterScheme = value.replace(/^postgres(?:ql)?:\/\//, '')
  return afterScheme === value || isEncoded(value, afterScheme)
    ? null
    : 'has a # / ? or % in its user name, password or database; encode it, such as %23 for # and %2F for /.'
}

function isEncoded(value: string, afterScheme: string): boolean {
  const end = afterScheme.search(/[/?#]/)
  const authority = end === -1 ? afterScheme : afterScheme.slice(0, end)
  const afterAuthority = afterScheme.slice(authority.length)
  if (/%(?![0-9a-f]{2})/i.test(authority) || afterAuthority.includes('#')) return false
  if (authority.includes('@') || !afterAuthority.includes('@')) return true
  // The value of a parameter may hold an @, after a path that holds none.
  return parseUrl(value) !== null && /^\/[^@?]*\?[^@]*=/.test(afterAuthority)
}
