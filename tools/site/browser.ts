/** Opens pages of the built site in Chromium, at two widths and in both themes. @module */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { flawsOf, launchChromium, looks, openPage } from '../../packages/console/test/chromium.js'

/** Pages of each kind: the home page, a written one, one from templates, generated ones, one with a figure, a list. */
const pages = [
  ...['', 'start.html', 'receive/express.html', 'reference/errors.html', 'reference/http.html'],
  ...['concepts/outbox.html', 'decisions/'],
]
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/**
 * Serves the site and looks at it. Pictures of the pages go to the folder that `CONSOLE_PICTURES` names.
 * @returns A line for each violation that axe finds, each page wider than its screen, each request to another host,
 * and a search that leads nowhere.
 */
export async function findFlawsInBrowser(dist: string): Promise<string[]> {
  const server = createServer((request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?')
    const file = join(dist, path.endsWith('/') ? `${path}index.html` : path)
    try {
      const body = readFileSync(file)
      response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const browser = await launchChromium()
  try {
    const flaws: string[] = []
    for (const look of looks) flaws.push(...(await findFlaws(browser, origin, look)))
    return [...flaws, ...(await findInSearch(browser, origin))]
  } finally {
    await browser.close()
    server.close()
  }
}

async function findFlaws(browser: Browser, origin: string, { width, colorScheme }: (typeof looks)[number]) {
  const { page, complaints } = await openPage(browser, origin, { viewport: { width, height: 900 }, colorScheme })
  const flaws: string[] = []
  for (const path of pages) {
    await page.goto(`${origin}/${path}`, { waitUntil: 'networkidle' })
    flaws.push(...(await flawsOf(page, `site-${width}-${colorScheme}/${path}`)))
  }
  await page.context().close()
  // The browser asks for an icon, and the site has none.
  return [...flaws, ...complaints.filter((text) => !text.includes('404'))]
}

/** Searches as a reader does, and opens the first hit. */
async function findInSearch(browser: Browser, origin: string): Promise<string[]> {
  const { page, complaints } = await openPage(browser, origin, { viewport: { width: 1280, height: 900 } })
  await page.goto(`${origin}/start.html`, { waitUntil: 'networkidle' })
  await page.locator('#local-search button').click()
  await page.locator('.search-input').fill('outbox')
  await page.locator('.results .result', { hasText: 'Outbox' }).first().waitFor()
  await page.locator('.results .result').first().click()
  await page.waitForURL((url) => url.pathname !== '/start.html')
  await page.context().close()
  return complaints.filter((text) => !text.includes('404'))
}
