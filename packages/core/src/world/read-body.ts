/** Reads the body of a request to a host's routes and pages, up to a cap. @module */
import { parseContentLength } from '@payment-integration/contract/parse'
import { RequestBodyError } from '../errors.js'

/**
 * The raw body. Stops reading at the cap.
 * @throws RequestBodyError `ERR_BODY_TOO_LARGE` above the cap, `ERR_BODY_INCOMPLETE` when the client stopped sending.
 */
export async function readRequestBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () => new RequestBodyError('ERR_BODY_TOO_LARGE', `Body is larger than ${maxBytes} bytes`)
  const declared = parseContentLength(request.headers.get('content-length'))
  if (declared !== null && declared > maxBytes) throw tooLarge()
  // The HTTP library reads a whole body several times faster than a stream. Its length was checked above, and Node
  // enforces it.
  if (declared !== null) {
    const body = new Uint8Array(await request.arrayBuffer().catch(incomplete))
    if (body.byteLength > maxBytes) throw tooLarge()
    return body
  }
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
  throw new RequestBodyError('ERR_BODY_INCOMPLETE', 'Body ended before it was complete')
}
