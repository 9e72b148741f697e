/** Serves a fetch handler on loopback, for a client in another process. @module */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Limit of a request's body in bytes. */
const maxBytes = 1_048_576

/** Answers a request. @param uri - The path and query, byte for byte as sent. */
type Answer = (request: Request, uri: string) => Promise<Response>

/** The `Request` for arguments of `fetch`. Its shape identifies a `Request`, which may come from another realm. */
export function toRequest(input: string | URL | Request, init?: RequestInit): Request {
  if (typeof input === 'string' || !('method' in input)) return new Request(String(input), init)
  return init === undefined ? input : new Request(input, init)
}

/** Serves on a port of 127.0.0.1; 0 picks a free port. When the handler fails, the connection closes. */
export async function serve(answer: Answer, port: number) {
  const server = createServer((incoming, outgoing) => {
    respond(answer, incoming, outgoing).catch(() => outgoing.destroy())
  })
  // With a shorter time, a client that stalls would find its idle socket closed. `close` ends the sockets.
  server.keepAliveTimeout = 600_000
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    /** The `baseUrl` of a client, such as `http://127.0.0.1:40123`. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Closes every connection and stops. */
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function respond(answer: Answer, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const disconnected = new AbortController()
  outgoing.once('close', () => disconnected.abort())
  const body = await readBody(incoming)
  if (body === null) return void outgoing.writeHead(413).end()
  const response = await answer(buildRequest(incoming, body, disconnected.signal), incoming.url ?? '/')
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  for await (const chunk of response.body ?? [])
    await new Promise<void>((sent, failed) => {
      outgoing.write(chunk, (error) => (error ? failed(error) : sent()))
    })
  outgoing.end()
}

/** Reads the body; null when it is larger than 1 MiB. Reads to its end in any case, so that the answer arrives. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
  }
  return size > maxBytes ? null : Buffer.concat(chunks)
}

function buildRequest(incoming: IncomingMessage, bytes: Buffer, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', headers } = incoming
  const named = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const body = method === 'GET' || method === 'HEAD' ? null : new Uint8Array(bytes)
  return new Request(new URL(url, 'http://127.0.0.1'), { method, headers: named, body, signal })
}
