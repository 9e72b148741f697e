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
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.slice(3)
  const encoding = detectUtf16(bytes)
  return encoding === null ? bytes : toUtf8(new TextDecoder(encoding).decode(bytes))
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
    const place = code > 0xff ? windows1252.indexOf(text[index] ?? '') : -1
    if (code > 0xff && place < 0) return null
    bytes[index] = place < 0 ? code : 0x80 + place
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

/** A body or key before a change, and that change. */
export interface Undone {
  readonly value: Body
  readonly fault: Fault
}

export function buildUndone(code: FindingCode, value: Body, ...evidence: string[]): Undone {
  return { value, fault: prove(code, ...evidence) }
}

/** Undoes one kind of change. Returns nothing when the value shows no trace of the change. */
export type Undo = (value: Body) => readonly Undone[] | Promise<readonly Undone[]>

/** The most changes in a row. */
const maxSteps = 3

/** Returns the value, then each distinct value reached by undoing changes, fewest changes first. */
export async function findCandidates(value: Body, undos: readonly Undo[], maxCount: number): Promise<Candidate[]> {
  const candidates: Candidate[] = [{ value, faults: [] }]
  // Latin-1 has a character for each byte, so equal texts are equal values.
  const toText = (bytes: Body) => new TextDecoder('latin1').decode(bytes)
  const knownTexts = new Set([toText(value)])
  for (const candidate of candidates) {
    if (candidate.faults.length >= maxSteps) break
    for (const undo of undos)
      for (const { value: next, fault } of await undo(candidate.value)) {
        if (candidates.length >= maxCount) return candidates
        const text = toText(next)
        if (knownTexts.has(text)) continue
        knownTexts.add(text)
        candidates.push({ value: next, faults: [...candidate.faults, fault] })
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
  return findCandidates(key, keyUndos, maxKeys)
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

/** Texts before a change, with the evidence of the change. Null or the same text: there is no trace of the change. */
type UndoText = (text: string) => readonly (readonly [before: string | Body | null, evidence: string])[]

/** Creates an undo for one kind of change of a text. Skips bytes that are not UTF-8, and results equal to the text. */
function undoInText(code: FindingCode, undo: UndoText): Undo {
  return (body) => {
    const text = fromUtf8(body)
    if (text === null) return []
    return undo(text).flatMap(([before, evidence]) => {
      if (before === null || before === text || before.length === 0) return []
      return [buildUndone(code, typeof before === 'string' ? toUtf8(before) : before, evidence)]
    })
  }
}

const keyUndos: readonly Undo[] = [
  undoInText('secret_whitespace', (text) => {
    const trimmed = trimSecret(text)
    return [[trimmed, `Characters around the secret: ${text.length - trimmed.length}.`]]
  }),
  undoInText('secret_quoted', (text) => {
    const isQuoted = quotes.some(([open, close]) => text.startsWith(open ?? '') && text.endsWith(close ?? ''))
    return [[isQuoted && text.length > 2 ? text.slice(1, -1) : null, 'Quotes at both ends.']]
  }),
  undoInText('secret_assignment', (text) => {
    const [head = ''] = /^(?:export )?[A-Za-z_]\w{0,127}[=:] ?/.exec(text) ?? []
    return [[text.slice(head.length), 'A name and an equals sign.']]
  }),
  undoInText('secret_list', (text) => {
    const parts = text.split(/[,;\s]/).filter((part) => part !== '')
    if (parts.length < 2 || parts.length > 8) return []
    return parts.map((part, index) => [part, `Number ${index + 1} of ${parts.length} signed the delivery.`])
  }),
  undoInText('secret_prefix', (text) =>
    prefixes.filter((prefix) => !text.startsWith(prefix)).map((prefix) => [`${prefix}${text}`, `It lacks ${prefix}.`]),
  ),
  undoInText('secret_encoded', (text) => [
    [decodeHex(text), 'Decoded from hex.'],
    [decodeBase64(text), 'Decoded from base64.'],
    [decodeBase64(text.replace(/^(?:pi_)?whsec_/, '')), 'Decoded from base64 after its prefix.'],
    [decodePercent(text), 'Decoded from percent-encoding.'],
  ]),
]

const lineFeed = 0x0a
const carriageReturn = 0x0d
const blankBytes: ReadonlySet<number | undefined> = new Set([0, 0x09, lineFeed, carriageReturn, 0x20])

const undoByteOrderMark: Undo = (body) =>
  body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
    ? [buildUndone('body_byte_order_mark', body.slice(3), 'Its first three bytes are EF BB BF.')]
    : []

const undoNewline: Undo = (body) => {
  if (body.at(-1) !== lineFeed) return []
  const size = body.at(-2) === carriageReturn ? 2 : 1
  return [buildUndone('body_newline', body.slice(0, -size), `Bytes of the line end: ${size}.`)]
}

/** Appends a line end that may have been removed. The body shows no trace of that, so use these candidates last. */
export function addNewlines(body: Body): Candidate[] {
  return [[lineFeed], [carriageReturn, lineFeed]].map((end) => {
    const fault = prove('body_newline', `Bytes of the missing line end: ${end.length}.`)
    return { value: Uint8Array.from([...body, ...end]), faults: [fault] }
  })
}

const undoPadding: Undo = (body) => {
  let [start, end] = [0, body.length]
  while (start < end && blankBytes.has(body[start])) start++
  while (end > start && blankBytes.has(body[end - 1])) end--
  const count = body.length - (end - start)
  if (count === 0 || start === end) return []
  return [buildUndone('body_padded', body.slice(start, end), `Blank or NUL bytes around it: ${count}.`)]
}

/** Names the compression of bytes by their beginning; null: none. */
export function detectCompression(body: Uint8Array): 'gzip' | 'deflate' | null {
  if (body[0] === 0x1f && body[1] === 0x8b) return 'gzip'
  return body[0] === 0x78 && ((body[0] << 8) | (body[1] ?? 0)) % 31 === 0 && fromUtf8(body) === null ? 'deflate' : null
}

/** Limit of a body in bytes; a larger one is not searched. */
export const maxBodyBytes = 1_048_576

const undoCompression: Undo = async (body) => {
  const format = detectCompression(body)
  const value = format === null ? null : await decompress(body, format)
  return value === null ? [] : [buildUndone('body_compressed', value, `Its bytes are ${format}.`)]
}

/** Decompresses to at most {@link maxBodyBytes}, as a protection against decompression bombs. */
async function decompress(body: Body, format: 'gzip' | 'deflate'): Promise<Body | null> {
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

/** The undos of changes to the bytes of a body. */
export const undoBytes: readonly Undo[] = [undoByteOrderMark, undoNewline, undoPadding, undoCompression]

export const undoText: readonly Undo[] = [
  undoInText('body_escaped', (text) => {
    const bare = text.trim()
    const isQuoted = bare.length > 2 && /^["'`]/.test(bare) && bare.endsWith(bare[0] ?? '')
    const inner = isQuoted ? bare.slice(1, -1) : bare
    const unescaped = /^\{\s?\\+"/.test(inner) ? inner.replace(/\\(["\\/])/g, '$1') : null
    return [
      [isQuoted ? inner : null, 'Quotes at both ends.'],
      [unescaped, 'Backslashes before its quotes.'],
    ]
  }),
  undoInText('body_form_encoded', (text) => {
    if (!/%[0-9a-f]{2}/i.test(text)) return []
    const [name = ''] = /^[A-Za-z_][\w.[\]-]{0,63}=/.exec(text) ?? []
    const value = text.slice(name.length).replace(/=$/, '')
    const evidence = name === '' ? 'It has characters written as %XX.' : 'It is the value of a form field.'
    return [decodePercent(value.replaceAll('+', ' ')), decodePercent(value)].map((decoded) => [decoded, evidence])
  }),
  undoInText('body_base64', (text) => [[decodeBase64(text), 'It has only characters of base64.']]),
  undoInText('body_hex', (text) => [[decodeHex(text), 'It has only hex digits.']]),
  undoInText('body_chunked', (text) => [[dechunk(text), 'Chunk sizes stand in lines of their own.']]),
  undoInText('body_charset', (text) => {
    const bytes = /[^\0-\x7f]/.test(text) ? toLatin1(text) : null
    const isUtf8 = bytes !== null && fromUtf8(bytes) !== null
    return [[isUtf8 ? bytes : null, 'UTF-8 was decoded as Latin-1 or windows-1252 and encoded again.']]
  }),
  (body) => {
    if (fromUtf8(body) !== null) return []
    const texts = [fromLatin1(body, false), fromLatin1(body, true)]
    return texts.map((text) => buildUndone('body_charset', toUtf8(text), 'The bytes are not UTF-8.'))
  },
  undoInText('body_line_ends', (text) => [
    [text.replaceAll('\r\n', '\n'), 'It has CRLF where LF was signed.'],
    [text.includes('\r') ? null : text.replaceAll('\n', '\r\n'), 'It has LF where CRLF was signed.'],
  ]),
]

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
