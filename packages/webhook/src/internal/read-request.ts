/** Reads a header of a framework's request, and a fetch request's body. @module */
import type { BodyReader, HeadersLike, RequestLike } from '../delivery.js'
import { createRejection } from '../errors.js'
import { concat, notRaw, parseContentLength, tooLarge } from '../read-body.js'

/** Headers that can be read more than once: a list, an object with a field per name, or an object with `get`. */
export type ReadableHeaders = { readonly [name: string]: unknown } & Partial<Iterable<unknown>>

/** Copies an iterator into a list, because it can be read only once. A value that is no object has no headers. */
export function toReadable(headers: HeadersLike): ReadableHeaders {
  const source: ReadableHeaders = Object(headers)
  // A Map is copied, because its `get` is case-sensitive. Fetch headers, which have `append`, are not copied: their
  // `get` ignores case and is faster than a copy.
  return source[Symbol.iterator] && !source['append'] ? ([...(source as Iterable<unknown>)] as never) : source
}

/** The header's value; repeated headers are joined by a comma, as HTTP does. `undefined` when there is none. */
export function readHeader(headers: ReadableHeaders, name: string): string | undefined {
  let joined: string | undefined
  const add = (key: unknown, value: unknown): void => {
    if (typeof key !== 'string' || key.length !== name.length || key.toLowerCase() !== name) return
    if (typeof value === 'string') joined = joined === undefined ? value : `${joined},${value}`
    else if (Array.isArray(value)) for (const part of value) add(key, part)
  }
  if (Array.isArray(headers)) {
    for (const [index, item] of headers.entries())
      if (Array.isArray(item)) add(item[0], item[1])
      // Node's rawHeaders: each name is followed by its value.
      else if (index % 2 === 0) add(item, headers[index + 1])
  } else if (typeof headers['get'] === 'function') add(name, headers['get'](name))
  else for (const key of Object.keys(headers)) add(key, headers[key])
  return joined
}

/** Whether the input is a fetch request, not `{ body, headers }`. */
export function isRequest(input: object): input is RequestLike {
  return 'arrayBuffer' in input && typeof input.arrayBuffer === 'function'
}

/** @throws {@link WebhookError} `ERR_BODY_NOT_RAW` when the body was already read, or its stream is locked. */
export function assertUnread(request: RequestLike): undefined {
  if (request.bodyUsed || request.body?.locked) throw notRaw('a Request whose body was read before or is held')
}

/**
 * Reads the body.
 * @param headers - The headers of the request, as `toReadable` returns them.
 * @throws {@link WebhookError} `ERR_BODY_NOT_RAW` when another reader read or locked the body.
 * `ERR_BODY_TOO_LARGE` when the declared length, or the number of bytes read, exceeds `maxBytes`.
 * `ERR_BODY_UNREADABLE` when the stream fails.
 */
export async function readRequest(
  request: RequestLike,
  headers: ReadableHeaders,
  maxBytes: number,
): Promise<Uint8Array> {
  if ((parseContentLength(readHeader(headers, 'content-length')) ?? 0) > maxBytes) throw tooLarge()
  assertUnread(request)
  let body: Uint8Array | undefined
  try {
    // Runtimes without request streams have no `body` at all; a request without a body has null.
    body = request.body
      ? await readAll(request.body.getReader(), maxBytes)
      : new Uint8Array(await request.arrayBuffer())
  } catch (cause) {
    throw createRejection('ERR_BODY_UNREADABLE', 400, { cause })
  }
  if (body && body.length <= maxBytes) return body
  throw tooLarge()
}

/** Reads the whole body; undefined when it is larger than `maxBytes`. */
async function readAll(reader: BodyReader, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return concat(chunks, length)
    if (!value) continue
    chunks.push(value)
    length += value.byteLength
    if (length > maxBytes) break
  }
  // The body is too large even if the cancellation fails.
  reader.cancel().catch(() => undefined)
  return undefined
}
