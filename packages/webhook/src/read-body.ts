/**
 * Bodies as raw bytes, up to a limit. Nothing here decodes: invalid UTF-8 stays as it came. Source:
 * docs/interface.md 6, signature rule 2.
 * @module
 */
import { type Limits, type RawBody, resolveLimits } from './delivery.js'
import { createRejection, type WebhookError } from './errors.js'

/** The most bytes of a rejected body that are read and discarded: 4 MiB. */
export const maxDiscardedBytes = 4_194_304

/** The length in bytes that a Content-Length header declares; `undefined` when the header is absent or no number. */
export function parseContentLength(header: unknown): number | undefined {
  return typeof header === 'string' && /^[0-9]+$/.test(header) ? Number(header) : undefined
}

/** Joins the chunks. @param length - Their total length in bytes. */
export function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}

/** Completes a sentence that begins with "The body is". */
function describeBody(body: unknown): string {
  if (body === undefined || body === null) return `${body} (nothing collected it)`
  if (Array.isArray(body)) return 'an array'
  if (typeof body !== 'object') return `a ${typeof body}`
  if (ArrayBuffer.isView(body)) return 'bytes already, and not a stream of them'
  if ('arrayBuffer' in body) return 'a Request, which verify(request) reads by itself'
  if ('pipe' in body || 'getReader' in body) return 'a stream that nothing collected'
  return 'an object, so something parsed it'
}

/**
 * Checks the kind of the body without reading it, and returns it.
 * @throws {@link WebhookError} `ERR_BODY_NOT_RAW` for anything but bytes or text, parsed JSON above all.
 */
export function assertRawBody(body: unknown): RawBody {
  if (typeof body === 'string' || isRaw(body)) return body as RawBody
  throw notRaw(getTag(body))
}

const getTag = (value: unknown): string => Object.prototype.toString.call(value)

/**
 * Whether a value is a view of bytes, or memory that is not shared. Compares the tag instead of using `instanceof`:
 * test runners and workers have buffers of other realms.
 */
export function isRaw(value: unknown): value is ArrayBuffer | ArrayBufferView {
  // Compares the tag last, because making its text takes longer.
  return ArrayBuffer.isView(value) || getTag(value) === '[object ArrayBuffer]'
}

/** A view of the raw body as a Uint8Array, without a copy. */
export function toBytes(raw: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(raw) ? new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength) : new Uint8Array(raw)
}

/**
 * Returns the bytes of the body, or a rejection. Only text is copied.
 * `ERR_BODY_TOO_LARGE` above `maxBytes`. `ERR_BODY_NOT_RAW` for text with half a surrogate pair: the encoder would
 * turn it into U+FFFD, and two different bodies would share one signature.
 */
export function toBoundedBytes(body: RawBody, maxBytes: number): Uint8Array | WebhookError {
  if (typeof body !== 'string') return body.byteLength > maxBytes ? tooLarge() : toBytes(body)
  // A character takes one byte or more, so this rejects without encoding.
  if (body.length > maxBytes) return tooLarge()
  if (/\p{Surrogate}/u.test(body)) return notRaw('text with half a surrogate pair')
  return toBoundedBytes(new TextEncoder().encode(body), maxBytes)
}

/** @param arrived - The kind of value that arrived, without its content. */
export function notRaw(arrived: string): WebhookError {
  return createRejection('ERR_BODY_NOT_RAW', 500, { arrived })
}

export function tooLarge(): WebhookError {
  return createRejection('ERR_BODY_TOO_LARGE', 413)
}

/** Pass the same `maxBytes` as to the verifier. */
export type ReadBodyOptions = Pick<Limits, 'maxBytes'>

/**
 * Reads a request to its end, for `verify`. A fetch handler does not need it: `verify(request)` reads by itself. A body
 * that is too large is discarded. Up to 4 MiB more are read, because many senders listen for the 413 only after their
 * last byte. The rest stays unread, and Node closes the connection after its `keepAliveTimeout`. The server's
 * `requestTimeout` limits a slow sender.
 * @param request - A Node request that nothing has read from, or any other stream of bytes.
 * @param options - `maxBytes`: largest accepted body, in bytes. @default 262144
 * @throws {@link WebhookError} `ERR_BODY_TOO_LARGE` above `maxBytes`. `ERR_BODY_NOT_RAW` when something read, decoded
 * or parsed the body before. `ERR_BODY_UNREADABLE` when the stream fails, with the reason in `cause`.
 * @throws {RangeError} When `maxBytes` is not a whole number, 0 or more.
 * @example
 * import type { IncomingMessage } from 'node:http'
 * import { createVerifier, readBody } from '@payment-integration/webhook'
 * const { verify } = createVerifier({ secrets: process.env['WEBHOOK_SIGNING_SECRET'] ?? '' })
 * export const verifyRequest = async (request: IncomingMessage) =>
 *   verify({ body: await readBody(request), headers: request.headers })
 */
export async function readBody(request: AsyncIterable<Uint8Array>, options: ReadBodyOptions = {}): Promise<Uint8Array> {
  const { maxBytes } = resolveLimits(options)
  assertUntouched(request)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of wrapStreamErrors(request)) {
    if (!ArrayBuffer.isView(chunk)) throw notRaw(`a stream whose pieces are not bytes but ${typeof chunk}`)
    length += chunk.byteLength
    if (length <= maxBytes) chunks.push(chunk)
    else chunks.length = 0
    if (length > maxBytes + maxDiscardedBytes) break
  }
  if (length > maxBytes) throw tooLarge()
  return concat(chunks, length)
}

/** A consumed stream would read as an empty body, and the rejection would blame the signature. */
function assertUntouched(request: unknown): void {
  if (typeof request !== 'object' || request === null || !(Symbol.asyncIterator in request))
    throw notRaw(describeBody(request))
  const { readableDidRead, locked } = request as { readonly readableDidRead?: unknown; readonly locked?: unknown }
  if (readableDidRead === true || locked === true) throw notRaw('a stream that something else has read from')
}

/** Turns errors of the stream into rejections; errors of the code that reads it stay unchanged. */
async function* wrapStreamErrors(request: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* request
  } catch (cause) {
    throw createRejection('ERR_BODY_UNREADABLE', 400, { cause })
  }
}
