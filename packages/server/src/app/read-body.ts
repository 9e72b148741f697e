/** Reads the raw bytes of a request body, up to a cap. @module */
import { HttpRequestError } from './http-errors.js'

/** Largest body of a JSON route, in bytes. */
export const maxBodyBytes = 16 * 1024

/**
 * The raw body. Stops reading at the cap.
 * @throws HttpRequestError `ERR_BODY_TOO_LARGE` above the cap, `ERR_BODY_INCOMPLETE` when the client stopped sending.
 */
export async function readBody(request: Request, maxBytes: number = maxBodyBytes): Promise<Uint8Array> {
  const tooLarge = () => new HttpRequestError('ERR_BODY_TOO_LARGE', `Body is larger than ${maxBytes} bytes`)
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge()
  // The HTTP library reads a whole body several times faster than a stream. Its length was checked above, and Node
  // enforces it.
  if (declared !== null) return new Uint8Array(await request.arrayBuffer().catch(incomplete))
  if (request.body === null) return new Uint8Array(0)
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read().catch(incomplete)
    if (done) return Buffer.concat(chunks)
    size += value.byteLength
    if (size > maxBytes) {
      reader.cancel().catch(() => undefined)
      throw tooLarge()
    }
    chunks.push(value)
  }
}

function incomplete(): never {
  throw new HttpRequestError('ERR_BODY_INCOMPLETE', 'Body ended before it was complete')
}

/**
 * Rejects a body on a request that takes none. Source: RFC 9112 section 6.
 * @throws HttpRequestError `ERR_BODY_UNEXPECTED`.
 */
export function refuseBody({ headers }: Request): void {
  if (headers.has('transfer-encoding') || (headers.get('content-length') ?? '0') !== '0')
    throw new HttpRequestError('ERR_BODY_UNEXPECTED', 'This request takes no body; send none')
}
