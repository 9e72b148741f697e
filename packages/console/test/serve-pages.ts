/** Serves a console over HTTP, and finds a browser for it. */
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

/** A console on a port of this machine. */
export interface ServedPages {
  /** Its address, with `/console`. */
  readonly url: string
  close(): void
}

/** Serves it until `close`. */
export async function servePages(pages: Console): Promise<ServedPages> {
  const server = createServer(async (request, response) => {
    const address = `http://${request.headers.host}${request.url}`
    const answer = await pages.fetch(new Request(address, { headers: request.headers as Record<string, string> }))
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    const reader = answer.body?.getReader()
    response.on('close', () => void reader?.cancel())
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) response.write(part.value)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/console`,
    close() {
      pages.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
