/** Bodies as bytes, with a cap. Nothing here decodes: invalid UTF-8 stays as it came. @module */
import type { RawBody } from '../delivery.js'
import { refusal, type WebhookError } from '../errors.js'

/**
 * Checks the kind of the body without reading it, and returns it.
 * @throws {@link WebhookError} `ERR_BODY_NOT_RAW` for anything but bytes or text, parsed JSON above all.
 */
export function rawBody(body: unknown): RawBody {
  if (typeof body === 'string' || isRaw(body)) return body as RawBody
  throw notRaw(tagOf(body))
}

const tagOf = (value: unknown): string => Object.prototype.toString.call(value)

/**
 * Whether a value is a view of bytes, or memory that is not shared. Compares the tag instead of using `instanceof`:
 * test runners and workers have buffers of other realms.
 */
export function isRaw(value: unknown): value is ArrayBuffer | ArrayBufferView {
  // The tag last: making its text takes longer.
  return ArrayBuffer.isView(value) || tagOf(value) === '[object ArrayBuffer]'
}

/** The same bytes as a Uint8Array, without a copy. */
export function toBytes(raw: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(raw) ? new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength) : new Uint8Array(raw)
}

/**
 * The bytes of the body, copied only from text; or a refusal.
 * `ERR_BODY_TOO_LARGE` above `maxBytes`. `ERR_BODY_NOT_RAW` for text with half a surrogate pair: the encoder would
 * turn it into U+FFFD, and two different bodies would share one signature.
 */
export function bytesOf(body: RawBody, maxBytes: number): Uint8Array | WebhookError {
  if (typeof body !== 'string') return body.byteLength > maxBytes ? tooLarge() : toBytes(body)
  // A character takes one byte or more, so this refuses without encoding.
  if (body.length > maxBytes) return tooLarge()
  if (/\p{Surrogate}/u.test(body)) return notRaw('text with half a surrogate pair')
  return bytesOf(new TextEncoder().encode(body), maxBytes)
}

/** @param arrived - The kind of value that arrived, without its content. */
export function notRaw(arrived: string): WebhookError {
  return refusal('ERR_BODY_NOT_RAW', 500, { arrived })
}

export function tooLarge(): WebhookError {
  return refusal('ERR_BODY_TOO_LARGE', 413)
}
