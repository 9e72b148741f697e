/** Serves a fetch handler on loopback, for a client in another process. @module */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

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
  const response = await answer(await buildRequest(incoming, disconnected.signal), incoming.url ?? '/')
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  for await (const chunk of response.body ?? [])
    await new Promise<void>((sent, failed) => {
      outgoing.write(chunk, (error) => (error ? failed(error) : sent()))
    })
  outgoing.end()
}

async function buildRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const { method = 'GET', url = '/', headers } = incoming
  const bytes = await buffer(incoming)
  const named = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const body = method === 'GET' || method === 'HEAD' ? null : new Uint8Array(bytes)
  return new Request(new URL(url, 'http://127.0.0.1'), { method, headers: named, body, signal })
}
