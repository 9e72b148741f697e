/** The bytes of a fetch request, read once and never past the cap. @module */
import type { BodyReader, RequestLike } from '../delivery.js'
import { BodyNotRawError, BodyTooLargeError, BodyUnreadableError } from '../errors.js'
import { concat } from './concat.js'
import { readHeader } from './read-header.js'

/** Tells a fetch request from `{ body, headers }`. */
export function isRequest(input: object): input is RequestLike {
  return 'arrayBuffer' in input && typeof input.arrayBuffer === 'function' && 'headers' in input
}

/** @throws {@link BodyNotRawError} `ERR_BODY_NOT_RAW` when something read the body before, or holds its stream. */
export function assertUnread(request: RequestLike): void {
  if (request.bodyUsed) throw new BodyNotRawError('a Request whose body was read before')
  if (request.body?.locked === true) throw new BodyNotRawError('a Request whose body another reader holds')
}

/**
 * Reads the body.
 * @throws {@link BodyNotRawError} `ERR_BODY_NOT_RAW` when something read it, or holds it, by now.
 * @throws {@link BodyTooLargeError} `ERR_BODY_TOO_LARGE`, by the declared length before reading, or at the first byte too many.
 * @throws {@link BodyUnreadableError} `ERR_BODY_UNREADABLE` when the stream fails.
 */
export async function readRequest(request: RequestLike, maxBytes: number): Promise<Uint8Array> {
  const declared = readHeader(request.headers, 'content-length')
  if (declared !== undefined && /^[0-9]+$/.test(declared) && Number(declared) > maxBytes)
    throw new BodyTooLargeError(maxBytes)
  assertUnread(request)
  try {
    if (request.body === null) return new Uint8Array()
    // Runtimes without request streams have no `body` at all.
    if (request.body === undefined) return cappedBuffer(await request.arrayBuffer(), maxBytes)
    return await readAll(request.body.getReader(), maxBytes)
  } catch (error) {
    throw error instanceof BodyTooLargeError ? error : new BodyUnreadableError(error)
  }
}

function cappedBuffer(buffer: ArrayBuffer, maxBytes: number): Uint8Array {
  if (buffer.byteLength > maxBytes) throw new BodyTooLargeError(maxBytes)
  return new Uint8Array(buffer)
}

async function readAll(reader: BodyReader, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    if (value === undefined) continue
    length += value.byteLength
    if (length > maxBytes) {
      // Whether the sender hears of the cancellation does not change the verdict.
      reader.cancel().catch(() => undefined)
      throw new BodyTooLargeError(maxBytes)
    }
    chunks.push(value)
  }
  return concat(chunks, length)
}
