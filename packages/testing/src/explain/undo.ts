/** Undoes known changes to bodies and secrets, one after another. @module */
import { type Fault, type FindingCode, prove } from './finding.js'

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function toUtf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

/** The text of UTF-8 bytes, with its byte order mark; null for other bytes. */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return null
  }
}

/** Converts a saved file to UTF-8 without a byte order mark. Editors and shells may save UTF-16 with or without it. */
export function decodeSavedFile(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const encoding = detectUtf16(bytes)
  return encoding === null ? removeByteOrderMark(bytes) : toUtf8(new TextDecoder(encoding).decode(bytes))
}

function removeByteOrderMark(bytes: Body): Body {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.slice(3) : bytes
}

/** Detects UTF-16 by its byte order mark, or by a first character in ASCII; null: another encoding. */
function detectUtf16([first = 0, second = 0]: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if ((first === 0xff && second === 0xfe) || (first > 0 && first < 0x80 && second === 0)) return 'utf-16le'
  return (first === 0xfe && second === 0xff) || (first === 0 && second > 0 && second < 0x80) ? 'utf-16be' : null
}

/** The bytes of base64 or base64url, with or without padding and line ends. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  const plain = text.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/')
  if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(plain)) return null
  try {
    return Uint8Array.from(atob(plain), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

/** Decodes hex, with or without `\x` or `0x`. */
export function decodeHex(text: string): Uint8Array<ArrayBuffer> | null {
  const digits = text.replace(/^[\\0]x/, '').replace(/\s/g, '')
  if (digits.length < 2 || digits.length % 2 === 1 || !/^[0-9a-fA-F]+$/.test(digits)) return null
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

/** The code points of windows-1252 for the bytes 0x80 to 0x9f. */
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** Encodes a text in Latin-1 or windows-1252; null when a character is in neither. */
export function toLatin1(text: string): Uint8Array<ArrayBuffer> | null {
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const windowsIndex = code > 0xff ? windows1252.indexOf(text[index] ?? '') : -1
    if (code > 0xff && windowsIndex < 0) return null
    bytes[index] = windowsIndex < 0 ? code : 0x80 + windowsIndex
  }
  return bytes
}

/** Decodes Latin-1 bytes, or with `asWindows` windows-1252 bytes. */
export function fromLatin1(bytes: Uint8Array, asWindows: boolean): string {
  const characters = Array.from(bytes, (byte) =>
    asWindows && byte >= 0x80 && byte < 0xa0 ? (windows1252[byte - 0x80] ?? '') : String.fromCharCode(byte),
  )
  return characters.join('')
}

/** The bytes of a body, or of an HMAC key. */
export type Body = Uint8Array<ArrayBuffer>

/** A body or key, and the changes that were undone to reach it. */
export interface Candidate {
  readonly value: Body
  readonly faults: readonly Fault[]
}

/** The code of a change, the body or key before it, and the evidence. A null or empty body or key: no such change. */
export type Undone = readonly [code: FindingCode, before: Body | string | null, ...evidence: string[]]

/** Yields the values before each change of which the value shows a trace. */
type Undo = (value: Body) => Iterable<Undone> | AsyncIterable<Undone>

/** The most changes in a row. */
const maxSteps = 3

/** Returns the value, then each distinct value reached by undoing changes, fewest changes first. */
export async function findCandidates(value: Body, undo: Undo, maxCount: number): Promise<Candidate[]> {
  const candidates: Candidate[] = [{ value, faults: [] }]
  // Latin-1 has a character for each byte, so equal texts are equal values.
  const toText = (bytes: Body) => new TextDecoder('latin1').decode(bytes)
  const knownTexts = new Set([toText(value)])
  for (const candidate of candidates) {
    if (candidate.faults.length >= maxSteps) break
    for await (const [code, before, ...evidence] of undo(candidate.value)) {
      if (before === null || before === '') continue
      if (candidates.length >= maxCount) return candidates
      const next = typeof before === 'string' ? toUtf8(before) : before
      const text = toText(next)
      // A value equal to one that is known is skipped, so an undo may yield the unchanged value.
      if (knownTexts.has(text)) continue
      knownTexts.add(text)
      candidates.push({ value: next, faults: [...candidate.faults, prove(code, ...evidence)] })
    }
  }
  return candidates
}

const maxKeys = 24
const maxSecretLength = 4_096
const blanks = /^[\s\u200b\u2060\ufeff\0]/u
const quotes = ['""', "''", '``', '“”', '‘’', '„“', '«»'] as const
const prefixes = ['pi_whsec_', 'whsec_'] as const

/** Returns the key of the secret as it is, then keys reached by undoing changes. Empty for a blank secret. */
export async function findKeyCandidates(secret: string): Promise<Candidate[]> {
  if (trimSecret(secret) === '') return []
  const key = toUtf8(secret)
  if (secret.length > maxSecretLength) return [{ value: key, faults: [] }]
  return findCandidates(key, undoKey, maxKeys)
}

/** Trims white space, invisible characters, and at the end also escape sequences such as a literal `\n`. */
export function trimSecret(secret: string): string {
  let [start, end] = [0, secret.length]
  while (start < end && blanks.test(secret[start] ?? '')) start++
  for (;;) {
    if (end > start && blanks.test(secret[end - 1] ?? '')) end--
    else if (end - start >= 2 && /^\\[nrt]$/.test(secret.slice(end - 2, end))) end -= 2
    else return secret.slice(start, end)
  }
}

function* undoKey(key: Body): Generator<Undone> {
  const text = fromUtf8(key)
  if (text === null) return
  const trimmed = trimSecret(text)
  yield ['secret_whitespace', trimmed, `Characters around the secret: ${text.length - trimmed.length}.`]
  const isQuoted = quotes.some(([open, close]) => text.startsWith(open ?? '') && text.endsWith(close ?? ''))
  if (isQuoted && text.length > 2) yield ['secret_quoted', text.slice(1, -1), 'Quotes at both ends.']
  const [head = ''] = /^(?:export )?[A-Za-z_]\w{0,127}[=:] ?/.exec(text) ?? []
  yield ['secret_assignment', text.slice(head.length), 'A name and an equals sign.']
  const parts = text.split(/[,;\s]/).filter((part) => part !== '')
  if (parts.length > 1 && parts.length <= 8)
    for (const [index, part] of parts.entries())
      yield ['secret_list', part, `Number ${index + 1} of ${parts.length} signed the delivery.`]
  for (const prefix of prefixes)
    if (!text.startsWith(prefix)) yield ['secret_prefix', `${prefix}${text}`, `It lacks ${prefix}.`]
  yield ['secret_encoded', decodeHex(text), 'Decoded from hex.']
  yield ['secret_encoded', decodeBase64(text), 'Decoded from base64.']
  yield ['secret_encoded', decodeBase64(text.replace(/^(?:pi_)?whsec_/, '')), 'Decoded from base64 after its prefix.']
  yield ['secret_encoded', decodePercent(text), 'Decoded from percent-encoding.']
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const blankBytes: ReadonlySet<number | undefined> = new Set([0, 0x09, lineFeed, carriageReturn, 0x20])

/** Undoes changes to the bytes of a body. */
export function* undoBytes(body: Body): Generator<Undone> {
  const unmarked = removeByteOrderMark(body)
  if (unmarked !== body) yield ['body_byte_order_mark', unmarked, 'Its first three bytes are EF BB BF.']
  const size = body.at(-2) === carriageReturn ? 2 : 1
  if (body.at(-1) === lineFeed) yield ['body_newline', body.slice(0, -size), `Bytes of the line end: ${size}.`]
  let [start, end] = [0, body.length]
  while (start < end && blankBytes.has(body[start])) start++
  while (end > start && blankBytes.has(body[end - 1])) end--
  const blankCount = body.length - (end - start)
  if (start < end) yield ['body_padded', body.slice(start, end), `Blank or NUL bytes around it: ${blankCount}.`]
}

/** Appends a line end that may have been removed. The body shows no trace of that, so use these candidates last. */
export function addNewlines(body: Body): Candidate[] {
  return [[lineFeed], [carriageReturn, lineFeed]].map((end) => {
    const fault = prove('body_newline', `Bytes of the missing line end: ${end.length}.`)
    return { value: Uint8Array.from([...body, ...end]), faults: [fault] }
  })
}

/** Names the compression of bytes by their beginning; null: none. */
export function detectCompression(body: Uint8Array): 'gzip' | 'deflate' | null {
  if (body[0] === 0x1f && body[1] === 0x8b) return 'gzip'
  return body[0] === 0x78 && ((body[0] << 8) | (body[1] ?? 0)) % 31 === 0 && fromUtf8(body) === null ? 'deflate' : null
}

/** Limit of a body in bytes; a larger one is not searched. */
export const maxBodyBytes = 1_048_576

/** Decompresses to at most {@link maxBodyBytes}, as a protection against decompression bombs. */
export async function decompress(body: Body, format: 'gzip' | 'deflate'): Promise<Body | null> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  try {
    const stream = new Blob([body]).stream().pipeThrough(new DecompressionStream(format))
    for await (const part of stream as unknown as AsyncIterable<Uint8Array<ArrayBuffer>>) {
      size += part.length
      if (size > maxBodyBytes) return null
      parts.push(part)
    }
  } catch {
    return null
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

/** Undoes changes to the text of a body. */
export function* undoText(text: string): Generator<Undone> {
  const bare = text.trim()
  const isQuoted = bare.length > 2 && /^["'`]/.test(bare) && bare.endsWith(bare[0] ?? '')
  const inner = isQuoted ? bare.slice(1, -1) : bare
  if (isQuoted) yield ['body_escaped', inner, 'Quotes at both ends.']
  if (/^\{\s?\\+"/.test(inner))
    yield ['body_escaped', inner.replace(/\\(["\\/])/g, '$1'), 'Backslashes before its quotes.']
  if (/%[0-9a-f]{2}/i.test(text)) {
    const [name = ''] = /^[A-Za-z_][\w.[\]-]{0,63}=/.exec(text) ?? []
    const value = text.slice(name.length).replace(/=$/, '')
    const evidence = name === '' ? 'It has characters written as %XX.' : 'It is the value of a form field.'
    yield ['body_form_encoded', decodePercent(value.replaceAll('+', ' ')), evidence]
    yield ['body_form_encoded', decodePercent(value), evidence]
  }
  yield ['body_base64', decodeBase64(text), 'It has only characters of base64.']
  yield ['body_hex', decodeHex(text), 'It has only hex digits.']
  yield ['body_chunked', dechunk(text), 'Chunk sizes stand in lines of their own.']
  const bytes = /[^\0-\x7f]/.test(text) ? toLatin1(text) : null
  if (bytes !== null && fromUtf8(bytes) !== null)
    yield ['body_charset', bytes, 'UTF-8 was decoded as Latin-1 or windows-1252 and encoded again.']
  yield ['body_line_ends', text.replaceAll('\r\n', '\n'), 'It has CRLF where LF was signed.']
  if (!text.includes('\r')) yield ['body_line_ends', text.replaceAll('\n', '\r\n'), 'It has LF where CRLF was signed.']
}

function decodePercent(text: string): string | null {
  if (!/%[0-9a-f]{2}/i.test(text)) return null
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Joins HTTP chunks, each after a line with its size in hex; null when the text is not chunked. */
export function dechunk(text: string): Body | null {
  const bytes = toUtf8(text)
  const parts: number[] = []
  let at = 0
  for (;;) {
    const end = bytes.indexOf(0x0a, at)
    if (end < 0 || end - at > 20) return null
    const [, size] = /^([0-9a-fA-F]{1,7})\r?$/.exec(new TextDecoder().decode(bytes.subarray(at, end))) ?? []
    if (size === undefined) return null
    const length = Number.parseInt(size, 16)
    if (length === 0) return parts.length > 0 ? Uint8Array.from(parts) : null
    if (end + 1 + length > bytes.length) return null
    for (const byte of bytes.subarray(end + 1, end + 1 + length)) parts.push(byte)
    at = end + 1 + length
    if (bytes[at] === 0x0d) at++
    if (bytes[at] === 0x0a) at++
  }
}
