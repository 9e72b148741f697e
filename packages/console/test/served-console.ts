/** Serves a console over HTTP for a real browser. @module */
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import type { Console } from '../src/create-console.js'

/** The browser of this machine; undefined: there is none. */
export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
)

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A console on a port of this machine. */
export interface ServedConsole {
  /** Address of the overview. */
  readonly url: string
  close(): void
}

/** Serves it, with bodies of forms. */
export async function serveConsole(pages: Pick<Console, 'fetch'>): Promise<ServedConsole> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = 'GET' } = request
    const body = method === 'POST' ? { body: Buffer.concat(chunks) } : {}
    const headers = request.headers as Record<string, string>
    const address = `http://${request.headers.host}${request.url}`
    const answer = await pages.fetch(new Request(address, { method, headers, ...body }))
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
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Flaws of the page: content beside the screen, and violations that axe finds. */
export async function flawsOf(page: Page): Promise<string[]> {
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
  await page.evaluate(axe)
  const { violations } = (await page.evaluate('axe.run(document)')) as {
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
  }
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  return overflow > 0 ? [`${overflow} px wider than the screen`, ...found] : found
}
