/** Opens pages of the built site in Chromium, at two widths and in both themes. @module */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { getFlaws, launchChromium, looks, openPage } from '../../packages/console/test/chromium.js'

/** Pages of each kind: the home page, a written one, one from templates, generated ones, one with a figure, a list. */
const pages = [
  '',
  'start.html',
  'receive/express.html',
  'errors.html',
  'reference/http.html',
  'concepts/outbox.html',
  'decisions/',
]
/** The height of an API page at 1280 px, above which it must be split. */
const maxApiHeight = 20_000
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/**
 * Serves the site and looks at it. Pictures of the pages go to the folder that `CONSOLE_PICTURES` names.
 * @returns A line for each flaw. Axe looks for violations; a page may not be wider than its screen, cut code off, miss
 * a file or ask another host. An API page may not be too long, and a search must lead somewhere.
 */
export async function findFlawsInBrowser(dist: string): Promise<string[]> {
  const server = createServer((request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?')
    const file = join(dist, path.endsWith('/') ? `${path}index.html` : path)
    try {
      const body = readFileSync(file)
      response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(body)
    } catch {
      response.writeHead(404, { 'content-type': 'text/html' }).end(readFileSync(join(dist, '404.html')))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const browser = await launchChromium()
  try {
    const flaws: string[] = []
    for (const look of looks) flaws.push(...(await findFlaws(browser, origin, look)))
    return [
      ...flaws,
      ...(await findFlawsInSearch(browser, origin)),
      ...(await findFlawsInNotFound(browser, origin)),
      ...(await findTallApiPages(browser, origin, dist)),
    ]
  } finally {
    await browser.close()
    server.close()
  }
}

async function findFlaws(browser: Browser, origin: string, { width, colorScheme }: (typeof looks)[number]) {
  const { page, complaints } = await openPage(browser, origin, { viewport: { width, height: 800 }, colorScheme })
  const icon = await page.request.get(`${origin}/favicon.svg`)
  const flaws = icon.ok() ? [] : [`The icon of the site answers ${icon.status()}.`]
  for (const path of pages) {
    await page.goto(`${origin}/${path}`, { waitUntil: 'networkidle' })
    const name = `site-${width}-${colorScheme}/${path}`
    const broken = (await page.evaluate(findBrokenCode)) as string[]
    flaws.push(...(await getFlaws(page, name)), ...broken.map((text) => `${name} breaks or cuts off: ${text}`))
    const end = Number(await page.evaluate("document.querySelector('.VPHome ul')?.getBoundingClientRect().bottom ?? 0"))
    if (width === 1280 && end > 800) flaws.push(`${name}: the four numbers end at ${end} px, below the first screen`)
  }
  await page.context().close()
  return [...flaws, ...complaints]
}

/** In the page: codes with a word on two lines, and on a wide screen code that is wider than its block. */
const findBrokenCode = `[
  ...[...document.querySelectorAll('.vp-doc code')].filter((code) => /^[\\w.]+$/.test(code.textContent) &&
    [...code.childNodes].some((node) => [...node.textContent.matchAll(/[^_.]+/g)].some(({ 0: word, index }) => {
      const range = document.createRange(), isText = node.nodeType === Node.TEXT_NODE
      if (isText) range.setStart(node, index), range.setEnd(node, index + word.length)
      return isText && range.getClientRects().length > 1
    }))),
  ...[...document.querySelectorAll('.vp-doc pre')].filter((pre) => innerWidth > 960 && pre.scrollWidth > pre.clientWidth),
].map(({ textContent }) => textContent)`

/** Searches as a reader does, and opens the first hit. */
async function findFlawsInSearch(browser: Browser, origin: string): Promise<string[]> {
  const { page, complaints } = await openPage(browser, origin, { viewport: { width: 1280, height: 800 } })
  await page.goto(`${origin}/start.html`, { waitUntil: 'networkidle' })
  await page.locator('#local-search button').click()
  await page.locator('.search-input').fill('outbox')
  await page.locator('.results .result', { hasText: 'Outbox' }).first().waitFor()
  await page.locator('.results .result').first().click()
  await page.waitForURL((url) => url.pathname !== '/start.html')
  await page.context().close()
  return complaints
}

/** An address that leads nowhere shows the site's own page. The browser complains only about the status 404. */
async function findFlawsInNotFound(browser: Browser, origin: string): Promise<string[]> {
  const { page, complaints } = await openPage(browser, origin, { viewport: { width: 390, height: 800 } })
  await page.goto(`${origin}/no/such/page.html`, { waitUntil: 'networkidle' })
  await page.locator('.not-found a', { hasText: 'All pages' }).waitFor()
  const flaws = await getFlaws(page, 'site-not-found')
  await page.context().close()
  return [...flaws, ...complaints.filter((text, index) => index > 0 || !text.includes('404'))]
}

/** API pages that are too long to read. */
async function findTallApiPages(browser: Browser, origin: string, dist: string): Promise<string[]> {
  const { page } = await openPage(browser, origin, { viewport: { width: 1280, height: 800 } })
  const flaws: string[] = []
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!/^api\/.*[.]html$/.test(file)) continue
    await page.goto(`${origin}/${file}`, { waitUntil: 'domcontentloaded' })
    const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
    if (height > maxApiHeight) flaws.push(`${file} is ${height} px tall; ${maxApiHeight} are accepted`)
  }
  await page.context().close()
  return flaws
}
