/** Drives the built site in Chromium, at two widths and in both themes. @module */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumMissing, isChromiumMissing, launchChromium, looks } from '../../packages/console/test/chromium.js'
import { sample } from './sample.js'

const root = join(import.meta.dirname, '../..')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}
/** Addresses of the pages. */
const pages = sample.map((route) => route.replace(/(^|\/)index$/, '$1'))
const pictures = process.env['SITE_PICTURES']

describe.skipIf(isChromiumMissing)(`the site in Chromium${chromiumMissing}`, () => {
  let server: Server
  let browser: Browser
  let origin = ''

  beforeAll(async () => {
    execFileSync('npm', ['run', 'site', '--', '--sample'], { cwd: root, stdio: 'ignore' })
    server = createServer((request, response) => {
      const [path = '/'] = (request.url ?? '/').split('?')
      const file = join(root, 'tools/site/.sample', path.endsWith('/') ? `${path}index.html` : path)
      try {
        const body = readFileSync(file)
        response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(body)
      } catch {
        response.writeHead(404).end()
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    browser = await launchChromium()
  })

  afterAll(async () => {
    await browser.close()
    server.close()
  })

  /** A page at a width and in a theme; its requests to other hosts are refused and listed. */
  async function open(width: number, theme: 'light' | 'dark'): Promise<{ page: Page; foreign: string[] }> {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme })
    const foreign: string[] = []
    await context.route(
      (url) => url.origin !== origin && url.protocol !== 'data:',
      (route) => {
        foreign.push(route.request().url())
        return route.abort()
      },
    )
    context.setDefaultTimeout(300_000)
    return { page: await context.newPage(), foreign }
  }

  for (const { width, colorScheme: theme } of looks)
    test(`${width} px, ${theme}: no page has a violation of axe-core or asks another host`, async () => {
      const { page, foreign } = await open(width, theme)
      for (const path of pages) {
        await page.goto(`${origin}/${path === '' || path.endsWith('/') ? path : `${path}.html`}`)
        await page.waitForLoadState('networkidle')
        if (pictures !== undefined)
          await page.screenshot({ path: join(pictures, `${width}-${theme}-${path.replaceAll('/', '_')}.png`) })
        await page.evaluate(axe)
        const found = await page.evaluate('axe.run().then(({ violations }) => violations)')
        const violations = (found as { id: string; nodes: { html: string }[] }[]).map(
          ({ id, nodes }) => `${id}: ${nodes[0]?.html}`,
        )
        expect.soft(violations, path).toEqual([])
      }
      expect(foreign).toEqual([])
      await page.context().close()
    })

  test('the search finds a page without another host and leads to it', async () => {
    const { page, foreign } = await open(1280, 'light')
    await page.goto(`${origin}/start.html`)
    await page.waitForLoadState('networkidle')
    await page.locator('#local-search button').click()
    await page.locator('.search-input').fill('outbox')
    await page.locator('.results .result').first().waitFor()
    const titles = await page.locator('.results .result').allTextContents()
    expect(titles.join('\n')).toContain('Outbox')
    await page.locator('.results .result').first().click()
    await page.waitForURL((url) => url.pathname !== '/start.html')
    expect(foreign).toEqual([])
    await page.context().close()
  })
})
