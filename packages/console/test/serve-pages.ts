/** Serves pages on a port of this machine, for a browser. @module */
import { createServer } from 'node:http'
import type { Console } from '../src/create-console.js'

/** A server of pages. */
export interface ServedPages {
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string
  close(): void
}

/** Starts it. @param pagesAt - Makes the pages once their origin is known. */
export async function servePages(pagesAt: (origin: string) => Pick<Console, 'fetch'>): Promise<ServedPages> {
  let pages: Pick<Console, 'fetch'>
  const server = createServer(async (request, response) => {
    const { method = 'GET', url, headers } = request
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = method === 'GET' || method === 'HEAD' ? null : Buffer.concat(parts)
    const answer = await pages.fetch(
      new Request(`http://${headers.host}${url}`, { method, body, headers: headers as Record<string, string> }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    const reader = answer.body?.getReader()
    response.on('close', () => void reader?.cancel())
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) response.write(part.value)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  pages = pagesAt(origin)
  return {
    origin,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
