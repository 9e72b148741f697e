/** Reads the body of a request to a local server of the test kit. @module */
import type { IncomingMessage } from 'node:http'

/** Largest body of a request. */
const maxBytes = 1_048_576

/** Reads it whole. @throws {RangeError} When it has more than 1 MiB. */
export async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length
    if (size > maxBytes) throw new RangeError(`A request has more than ${maxBytes} bytes.`)
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
