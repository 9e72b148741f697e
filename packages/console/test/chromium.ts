/** Serves pages on a real port, as a host on Node does, and looks at them in a real browser. @module */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Console } from '../src/create-console.js'

const executablePath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((path) => existsSync(path))
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** A folder for pictures of the pages; unset: none are made. */
const pictures = process.env['CONSOLE_PICTURES']

export const isChromiumMissing = executablePath === undefined
/** For the title of a test that is skipped without it. */
export const chromiumMissing = isChromiumMissing ? ' (skipped: no Chromium; apt-get install chromium)' : ''

/** Each width and each theme once: overflow is a matter of the width, contrast one of the theme. */
export const looks = [
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const

/** Starts it without a window. Root needs a browser without a sandbox. */
export function launchChromium(): Promise<Browser> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }), args })
}

/** Opens a page without cookies, and collects its errors and its requests to other hosts than `origin`. */
export async function openPage(browser: Browser, origin: string, options: BrowserContextOptions = {}) {
  const page = await (await browser.newContext(options)).newPage()
  // A slow machine is no failure: the limit only ends what hangs.
  page.setDefaultTimeout(300_000)
  const complaints: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) complaints.push(request.url())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  return { page, complaints }
}

/**
 * Flaws of the page: content beside the screen, and violations that axe finds.
 * @param name - The page's picture.
 */
export async function getFlaws(page: Page, name: string): Promise<string[]> {
  if (pictures !== undefined) {
    mkdirSync(pictures, { recursive: true })
    await page.screenshot({ path: `${pictures}/${name.replaceAll(/[/?&=]+/g, '-').slice(0, 60)}.png`, fullPage: true })
  }
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
  await page.evaluate(axe)
  const { violations } = (await page.evaluate('axe.run(document)')) as {
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
  }
  const flaws = violations.map(({ id, nodes }) => `${name} ${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  return overflow > 0 ? [`${name}: ${overflow} px wider than the screen`, ...flaws] : flaws
}

/** Pages on a port. */
export type ServedPages = Awaited<ReturnType<typeof servePages>>

/** Serves them. @param build - Builds the pages for their origin. */
export async function servePages(build: (origin: string) => Pick<Console, 'fetch'> | Promise<Pick<Console, 'fetch'>>) {
  let pages: Pick<Console, 'fetch'> | null = null
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const isPost = request.method === 'POST'
    const init = { method: request.method ?? 'GET', headers: request.headers as Record<string, string> }
    const address = `http://${request.headers.host}${request.url}`
    const forwarded = new Request(address, isPost ? { ...init, body: Buffer.concat(chunks) } : init)
    const answer = await pages?.fetch(forwarded, { incoming: request })
    if (answer === undefined) return response.writeHead(503).end()
    // As a list: there may be several cookies.
    response.writeHead(answer.status, [...answer.headers].flat())
    const reader = answer.body?.getReader()
    response.on('close', () => void reader?.cancel())
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) response.write(part.value)
    return response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  pages = await build(origin)
  return {
    /** Such as `http://127.0.0.1:40123`. */
    origin,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
