/** Real HTTP servers with scripted answers, silences and broken connections. @module */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Reply } from '../node/calls.js'

/** A request that arrived. */
export interface FrontRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** A server on this machine. */
export interface HttpFront {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  close(): Promise<void>
}

/** Opens a server on a free port. */
export async function openHttpFront(answer: (request: FrontRequest) => Promise<Reply>): Promise<HttpFront> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const { url: path = '/', headers } = request
      answer({ path, headers, body: Buffer.concat(chunks) }).then(
        (reply) => send(reply, response),
        () => response.destroy(),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function send(reply: Reply, response: ServerResponse): void {
  if (reply.kind === 'reset') response.destroy()
  // The client ends a hang.
  if (reply.kind === 'answer') response.writeHead(reply.status, { ...reply.headers }).end(reply.body)
}
