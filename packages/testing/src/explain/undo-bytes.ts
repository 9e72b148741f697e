/** Undoes changes of a body that are changes of its bytes. @module */
import { fromUtf8 } from './text-codes.js'
import type { Candidate, Undo } from './undo.js'
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
export function withNewlines(body: Body): Candidate<Body>[] {
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
export function compressionOf(body: Uint8Array): 'gzip' | 'deflate' | null {
  if (body[0] === 0x1f && body[1] === 0x8b) return 'gzip'
  return body[0] === 0x78 && ((body[0] << 8) | (body[1] ?? 0)) % 31 === 0 && fromUtf8(body) === null ? 'deflate' : null
}

/**
 * Creates the step that decompresses.
 * @param most - Limit of the result in bytes, against small bodies that grow without end.
 */
function undoCompression(most: number): Undo<Body> {
  return async (body) => {
    const format = compressionOf(body)
    const value = format === null ? null : await decompress(body, format, most)
    return value === null ? [] : [{ code: 'body_compressed', evidence: [`Its bytes are ${format}.`], value }]
  }
}

async function decompress(body: Body, format: 'gzip' | 'deflate', most: number): Promise<Body | null> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    const stream = new Blob([body]).stream().pipeThrough(new DecompressionStream(format))
    for await (const part of stream as unknown as AsyncIterable<Uint8Array>) {
      size += part.length
      if (size > most) return null
      parts.push(part)
    }
  } catch {
    return null
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Undoes one change of the bytes each. */
export function undoBytes(most: number): readonly Undo<Body>[] {
  return [undoByteOrderMark, undoNewline, undoPadding, undoCompression(most)]
}
