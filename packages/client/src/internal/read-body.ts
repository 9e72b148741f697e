/** Reads a body up to a limit, so that a broken or hostile server cannot fill the memory. @module */
import { InvalidResponseError } from '../errors.js'

/** @throws {@link InvalidResponseError} `ERR_INVALID_RESPONSE`, reason `too_large`, as soon as the limit is passed. */
export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return new Uint8Array(0)
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.byteLength
    if (length > maxBytes) {
      discard(reader.cancel())
      throw new InvalidResponseError('too_large', response.status)
    }
    chunks.push(value)
  }
  const [only] = chunks
  if (only !== undefined && chunks.length === 1) return only
  const body = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    body.set(chunk, offset)
    offset += chunk.byteLength
  }
  return body
}

/** Lets go of a body that nobody reads, so that its connection is freed. */
export function dropBody(response: Response): void {
  if (response.body !== null) discard(response.body.cancel())
}

/** Parses UTF-8 JSON; undefined when it is neither (JSON itself has no undefined). */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/** A failure to cancel says nothing that the caller could use: the answer is given up either way. */
function discard(promise: Promise<void>): void {
  promise.catch(() => undefined)
}
