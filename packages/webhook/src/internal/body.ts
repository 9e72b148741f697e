/** Bodies as bytes, with a cap. Nothing here decodes: invalid UTF-8 stays as it came. @module */
import type { RawBody } from '../delivery.js'
import { BodyNotRawError, BodyTooLargeError } from '../errors.js'
import { kindOfBody } from './kind-of-body.js'

/**
 * Checks the kind of the body, without reading it.
 * @throws {@link BodyNotRawError} `ERR_BODY_NOT_RAW` for anything but bytes or text, parsed JSON above all.
 */
export function assertRaw(body: unknown): asserts body is RawBody {
  if (typeof body === 'string' || ArrayBuffer.isView(body) || isArrayBuffer(body)) return
  throw new BodyNotRawError(kindOfBody(body))
}

/**
 * The bytes of the body, without a copy where it has bytes already.
 * @throws {@link BodyTooLargeError} `ERR_BODY_TOO_LARGE` above `maxBytes`.
 * @throws {@link BodyNotRawError} `ERR_BODY_NOT_RAW` for text that no bytes decode to (half a surrogate pair).
 */
export function bytesOf(body: RawBody, maxBytes: number): Uint8Array {
  if (typeof body === 'string') {
    // A character takes one byte or more, so this refuses without encoding.
    if (body.length > maxBytes) throw new BodyTooLargeError(maxBytes)
    // The encoder would turn it into U+FFFD, and two different bodies would share one signature.
    if (/\p{Surrogate}/u.test(body)) throw new BodyNotRawError('text with half a surrogate pair')
    return capped(new TextEncoder().encode(body), maxBytes)
  }
  const bytes = ArrayBuffer.isView(body)
    ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
    : new Uint8Array(body)
  return capped(bytes, maxBytes)
}

function capped(bytes: Uint8Array, maxBytes: number): Uint8Array {
  if (bytes.byteLength > maxBytes) throw new BodyTooLargeError(maxBytes)
  return bytes
}

/** By tag and not by `instanceof`: test runners and workers have buffers of other realms. */
function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return Object.prototype.toString.call(value) === '[object ArrayBuffer]'
}
