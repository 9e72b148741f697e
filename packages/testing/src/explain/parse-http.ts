/** Parses a raw HTTP message, and lists of headers. @module */
import { isRecord, parseJson } from './body-form.js'
import type { ParsedRequest } from './parsed-request.js'
import { type HeaderPair, readHeaders, valuesOf } from './read-headers.js'
import { RequestUnreadableError } from './request-error.js'
import { fromLatin1, fromUtf8, savedAsUtf8, toUtf8 } from './text-codes.js'
import { dechunk } from './undo-text.js'

const lineFeed = 0x0a
const carriageReturn = 0x0d
/** Limit of the head of a message in bytes, far above that of any server. */
const longestHead = 262_144
const requestLine = /^[A-Z]{3,10} \S{1,8192}(?: HTTP\/\d(?:\.\d)?)?$/
/** A header name of HTTP; a colon in front marks the pseudo headers of HTTP/2. */
const headerName = /^:?[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/

/** Parses a message: an optional request line, headers, an empty line, and the body. Lines end with CRLF or LF. */
export function parseHttp(bytes: Uint8Array<ArrayBuffer>): ParsedRequest {
  const { head, body, isComplete } = split(bytes)
  const lines = head.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  while (lines[0]?.trim() === '') lines.shift()
  if (requestLine.test(lines[0] ?? '')) lines.shift()
  const headers = pairsOf(lines, 'http')
  const warnings = isComplete ? [] : ['The message has no empty line after its headers, so its body is empty.']
  return { form: 'http', headers, recordedAt: null, ...framed(headers, body, warnings) }
}

/** Parses headers alone: lines `Name: value`, or a JSON object or list of pairs. Bytes are those of a saved file. */
export function parseHeaders(given: string | Uint8Array): readonly HeaderPair[] {
  const text = textOf(savedAsUtf8(typeof given === 'string' ? toUtf8(given) : new Uint8Array(given)))
  if (text.length > longestHead) throw new RequestUnreadableError('headers', 'The headers are larger than 256 KiB.')
  const value = /^\s{0,64}[[{]/.test(text) ? parseJson(text) : undefined
  if (typeof value === 'object' && value !== null) {
    if (Array.isArray(value) && !value.every(Array.isArray))
      throw new RequestUnreadableError('headers', 'The headers are a JSON list of something else than pairs.')
    return readHeaders((isRecord(value) && isRecord(value['headers']) ? value['headers'] : value) as never)
  }
  const lines = text.split(/\r?\n/)
  if (requestLine.test(lines[0] ?? '')) lines.shift()
  return pairsOf(
    lines.filter((line) => line.trim() !== ''),
    'headers',
  )
}

/** The message at its first empty line. */
function split(bytes: Uint8Array<ArrayBuffer>): { head: string; body: Uint8Array<ArrayBuffer>; isComplete: boolean } {
  let start = 0
  while (bytes[start] === lineFeed || bytes[start] === carriageReturn) start++
  for (let at = start; at < Math.min(bytes.length, longestHead); at++) {
    if (bytes[at] !== lineFeed) continue
    const next = bytes[at + 1] === carriageReturn ? at + 2 : at + 1
    if (bytes[next] === lineFeed)
      return { head: textOf(bytes.slice(start, at)), body: bytes.slice(next + 1), isComplete: true }
  }
  if (bytes.length - start > longestHead)
    throw new RequestUnreadableError(
      'http',
      'The request has no empty line in its first 256 KiB: it is no HTTP message.',
    )
  return { head: textOf(bytes.slice(start)), body: new Uint8Array(), isComplete: false }
}

/** Headers may have bytes that are not UTF-8. */
function textOf(bytes: Uint8Array): string {
  return fromUtf8(bytes) ?? fromLatin1(bytes, false)
}

function pairsOf(lines: readonly string[], form: 'http' | 'headers'): HeaderPair[] {
  const pairs: [string, string][] = []
  for (const [index, line] of lines.entries()) {
    const last = pairs.at(-1)
    if (last !== undefined && /^[ \t]/.test(line)) {
      last[1] = `${last[1]} ${line.trim()}`
      continue
    }
    const at = line.indexOf(':', 1)
    const name = line.slice(0, Math.max(at, 0)).trim()
    if (!headerName.test(name))
      throw new RequestUnreadableError(
        form,
        `Line ${index + 1} of the headers is not Name: value. Paste a curl command, a HAR file or a raw HTTP message.`,
      )
    pairs.push([name, line.slice(at + 1).trim()])
  }
  if (pairs.length === 0) throw new RequestUnreadableError(form, 'The request has no headers.')
  return pairs
}

/** The body without the framing of HTTP: chunks, and a line end that an editor added after it. */
function framed(headers: readonly HeaderPair[], body: Uint8Array<ArrayBuffer>, warnings: readonly string[]) {
  if (valuesOf(headers, 'transfer-encoding').some((value) => /chunked/i.test(value))) {
    const text = fromUtf8(body)
    const whole = text === null ? null : dechunk(text)
    if (whole !== null) return { body: whole, warnings: [...warnings, 'The body was in chunks; they were joined.'] }
  }
  const [declared = ''] = valuesOf(headers, 'content-length')
  const length = /^\d{1,9}$/.test(declared) ? Number(declared) : body.length
  const rest = body.slice(length)
  if (rest.length === 0 || rest.length > 4 || !/^[\r\n]{1,4}$/.test(fromUtf8(rest) ?? '')) return { body, warnings }
  return {
    body: body.slice(0, length),
    warnings: [...warnings, 'Line ends after the end of the body, by Content-Length, were left out.'],
  }
}

/** The body of a text field, in base64 if so marked. */
export function bodyOfText(text: string, isBase64: boolean): Uint8Array<ArrayBuffer> | null {
  if (!isBase64) return toUtf8(text)
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}
