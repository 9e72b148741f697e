/** Undoes changes of a body that are changes of its bytes or text. @module */

import type { FindingCode } from './finding.js'
import type { Candidate, Undo } from './undo.js'
import { decodeBase64, decodeHex, fromLatin1, fromUtf8, toLatin1, toUtf8 } from './undo.js'
import type { Body } from './undo-json.js'

const lineFeed = 0x0a
const carriageReturn = 0x0d
const blanks: ReadonlySet<number | undefined> = new Set([0, 0x09, lineFeed, carriageReturn, 0x20])

const undoByteOrderMark: Undo<Body> = (body) =>
  body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
    ? [{ code: 'body_byte_order_mark', evidence: ['Its first three bytes are EF BB BF.'], value: body.slice(3) }]
    : []

const undoNewline: Undo<Body> = (body) => {
  if (body.at(-1) !== lineFeed) return []
  const size = body.at(-2) === carriageReturn ? 2 : 1
  return [{ code: 'body_newline', evidence: [`Bytes of the line end: ${size}.`], value: body.slice(0, -size) }]
}

/** Bodies with the line end that the given one may have lost. They show no trace of it, so they come last. */
export function addNewlines(body: Body): Candidate<Body>[] {
  return [[lineFeed], [carriageReturn, lineFeed]].map((end) => {
    const evidence = [`Bytes of the missing line end: ${end.length}.`]
    return { value: Uint8Array.from([...body, ...end]), faults: [{ code: 'body_newline', evidence }] }
  })
}

const undoPadding: Undo<Body> = (body) => {
  let [start, end] = [0, body.length]
  while (start < end && blanks.has(body[start])) start++
  while (end > start && blanks.has(body[end - 1])) end--
  const count = body.length - (end - start)
  if (count === 0 || start === end) return []
  return [{ code: 'body_padded', evidence: [`Blank or NUL bytes around it: ${count}.`], value: body.slice(start, end) }]
}

/** Names the compression of bytes by how they begin, or null. */
export function detectCompression(body: Uint8Array): 'gzip' | 'deflate' | null {
  if (body[0] === 0x1f && body[1] === 0x8b) return 'gzip'
  return body[0] === 0x78 && ((body[0] << 8) | (body[1] ?? 0)) % 31 === 0 && fromUtf8(body) === null ? 'deflate' : null
}

/**
 * Creates the step that decompresses.
 * @param most - Limit of the result in bytes, against small bodies that grow without end.
 */
function undoCompression(maxBytes: number): Undo<Body> {
  return async (body) => {
    const format = detectCompression(body)
    const value = format === null ? null : await decompress(body, format, maxBytes)
    return value === null ? [] : [{ code: 'body_compressed', evidence: [`Its bytes are ${format}.`], value }]
  }
}

async function decompress(body: Body, format: 'gzip' | 'deflate', maxBytes: number): Promise<Body | null> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    const stream = new Blob([body]).stream().pipeThrough(new DecompressionStream(format))
    for await (const part of stream as unknown as AsyncIterable<Uint8Array>) {
      size += part.length
      if (size > maxBytes) return null
      parts.push(part)
    }
  } catch {
    return null
  }
  const joinedParts = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    joinedParts.set(part, at)
    at += part.length
  }
  return joinedParts
}

export function createByteUndos(maxBytes: number): readonly Undo<Body>[] {
  return [undoByteOrderMark, undoNewline, undoPadding, undoCompression(maxBytes)]
}

/** Texts before a change, with the facts that show it. */
type UndoText = (text: string) => readonly { readonly text: string | Body | null; readonly evidence: string }[]

/** A step from bodies that are UTF-8. It gives nothing where the text stays the same. */
function undoInText(code: FindingCode, undo: UndoText): Undo<Body> {
  return (body) => {
    const text = fromUtf8(body)
    if (text === null) return []
    return undo(text).flatMap(({ text: next, evidence }) => {
      if (next === null || next === text || next.length === 0) return []
      return [{ code, evidence: [evidence], value: typeof next === 'string' ? toUtf8(next) : next }]
    })
  }
}

export const undoText: readonly Undo<Body>[] = [
  undoInText('body_escaped', (text) => {
    const bare = text.trim()
    const isQuoted = bare.length > 2 && /^["'`]/.test(bare) && bare.endsWith(bare[0] ?? '')
    const inner = isQuoted ? bare.slice(1, -1) : bare
    return [
      { text: isQuoted ? inner : null, evidence: 'Quotes at both ends.' },
      { text: /^\{\s?\\+"/.test(inner) ? removeBackslashes(inner) : null, evidence: 'Backslashes before its quotes.' },
    ]
  }),
  undoInText('body_form_encoded', (text) => {
    if (!/%[0-9a-f]{2}/i.test(text)) return []
    const [name = ''] = /^[A-Za-z_][\w.[\]-]{0,63}=/.exec(text) ?? []
    const value = text.slice(name.length).replace(/=$/, '')
    const evidence = name === '' ? 'It has characters written as %XX.' : 'It is the value of a form field.'
    return [decodePercent(value.replaceAll('+', ' ')), decodePercent(value)].map((each) => ({ text: each, evidence }))
  }),
  undoInText('body_base64', (text) => [{ text: decodeBase64(text), evidence: 'It has only characters of base64.' }]),
  undoInText('body_hex', (text) => [{ text: decodeHex(text), evidence: 'It has only hex digits.' }]),
  undoInText('body_chunked', (text) => [{ text: dechunk(text), evidence: 'Chunk sizes stand in lines of their own.' }]),
  undoInText('body_charset', (text) => {
    if (!/[^\0-\x7f]/.test(text)) return []
    const bytes = toLatin1(text)
    const isUtf8 = bytes !== null && fromUtf8(bytes) !== null
    return [
      { text: isUtf8 ? bytes : null, evidence: 'UTF-8 was decoded as Latin-1 or windows-1252 and encoded again.' },
    ]
  }),
  (body) => {
    if (fromUtf8(body) !== null) return []
    const evidence = ['The bytes are not UTF-8.']
    const texts = [fromLatin1(body, false), fromLatin1(body, true)]
    return texts.map((text) => ({ code: 'body_charset', evidence, value: toUtf8(text) }))
  },
  undoInText('body_line_ends', (text) => [
    { text: text.replaceAll('\r\n', '\n'), evidence: 'It has CRLF where LF was signed.' },
    { text: text.includes('\r') ? null : text.replaceAll('\n', '\r\n'), evidence: 'It has LF where CRLF was signed.' },
  ]),
]

function removeBackslashes(text: string): string {
  return text.replace(/\\(["\\/])/g, '$1')
}

function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** The content of chunks, each after a line with its size in hex; null when the text is not in chunks. */
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
