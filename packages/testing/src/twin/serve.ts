/** Serves the API of a twin on loopback, for a client in another process. @module */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readBytes } from '../read-bytes.js'

/** A port of a twin. */
export interface TwinPort {
  /** The `baseUrl` of a client, such as `http://127.0.0.1:40123`. */
  readonly url: string
  close(): Promise<void>
}

/** Starts to serve. @param port - A TCP port of 127.0.0.1; 0 is a free one. */
export async function serve(answer: (request: Request) => Promise<Response>, port: number): Promise<TwinPort> {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const response = await answer(await requestOf(incoming))
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      outgoing.end(Buffer.from(await response.arrayBuffer()))
    } catch {
      outgoing.destroy()
    }
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function requestOf(incoming: IncomingMessage): Promise<Request> {
  const { method = 'GET', url = '/', headers } = incoming
  const bytes = await readBytes(incoming)
  const named = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const body = method === 'GET' || method === 'HEAD' ? null : new Uint8Array(bytes)
  return new Request(new URL(url, 'http://127.0.0.1'), { method, headers: named, body })
}
