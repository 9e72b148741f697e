/** Serves pages on a real port, as a host on Node does. @module */
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Console } from '../src/create-console.js'

/** Where Chromium is; undefined: nowhere. */
export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
)

/** Root needs a browser without a sandbox. */
export const chromiumOptions = {
  ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
}

/** Pages on a port. */
export interface ServedPages {
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string
  close(): void
}

/** Serves them. @param build - Builds the pages for their origin. */
export async function servePages(build: (origin: string) => Pick<Console, 'fetch'>): Promise<ServedPages> {
  let pages: Pick<Console, 'fetch'> | null = null
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const isPost = request.method === 'POST'
    const init = { method: request.method ?? 'GET', headers: request.headers as Record<string, string> }
    const address = `http://${request.headers.host}${request.url}`
    const given = new Request(address, isPost ? { ...init, body: Buffer.concat(chunks) } : init)
    const answer = await pages?.fetch(given, { incoming: request })
    if (answer === undefined) return response.writeHead(503).end()
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    const reader = answer.body?.getReader()
    response.on('close', () => void reader?.cancel())
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) response.write(part.value)
    return response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  pages = build(origin)
  return {
    origin,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
