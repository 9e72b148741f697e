/** Reads a body up to a limit: a hostile server must not fill the memory. @module */
import { InvalidResponseError } from '../errors.js'

/** @throws {@link InvalidResponseError} Reason `too_large`, as soon as the body exceeds the limit. */
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

/** Cancels an unread body, which frees its connection. */
export function dropBody(response: Response): void {
  if (response.body !== null) discard(response.body.cancel())
}

/** Parses UTF-8 JSON; undefined when it is not (JSON has no undefined). */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/** Ignores a failed cancel: the answer is rejected either way. */
function discard(promise: Promise<void>): void {
  promise.catch(() => undefined)
}
