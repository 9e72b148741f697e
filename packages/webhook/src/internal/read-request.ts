/** The bytes of a fetch request, read once and never past the cap. @module */
import { declaredBytes } from '../adapters/internal/body-bytes.js'
import type { BodyReader, RequestLike } from '../delivery.js'
import { refusal } from '../errors.js'
import { notRaw, tooLarge } from './body.js'
import { concat } from './concat.js'
import { type ReadableHeaders, readHeader } from './read-header.js'

/** Tells a fetch request from `{ body, headers }`. */
export function isRequest(input: object): input is RequestLike {
  return 'arrayBuffer' in input && typeof input.arrayBuffer === 'function'
}

/** @throws {@link WebhookError} `ERR_BODY_NOT_RAW` when something read the body before, or holds its stream. */
export function assertUnread(request: RequestLike): undefined {
  if (request.bodyUsed || request.body?.locked) throw notRaw('a Request whose body was read before or is held')
}

/**
 * Reads the body.
 * @param headers - The headers of the request, as `toReadable` returns them.
 * @throws {@link WebhookError} `ERR_BODY_NOT_RAW` when another reader read or locked the body.
 * `ERR_BODY_TOO_LARGE` by the declared length, or at the first byte too many.
 * `ERR_BODY_UNREADABLE` when the stream fails.
 */
export async function readRequest(
  request: RequestLike,
  headers: ReadableHeaders,
  maxBytes: number,
): Promise<Uint8Array> {
  if ((declaredBytes(readHeader(headers, 'content-length')) ?? 0) > maxBytes) throw tooLarge()
  assertUnread(request)
  let body: Uint8Array | undefined
  try {
    // Runtimes without request streams have no `body` at all; a request without a body has null.
    body = request.body
      ? await readAll(request.body.getReader(), maxBytes)
      : new Uint8Array(await request.arrayBuffer())
  } catch (cause) {
    throw refusal('ERR_BODY_UNREADABLE', 400, { cause })
  }
  if (body && body.length <= maxBytes) return body
  throw tooLarge()
}

/** Everything, or nothing when it is more than `maxBytes`. */
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
  // Whether the sender hears of the cancellation does not change the verdict.
  reader.cancel().catch(() => undefined)
  return undefined
}
