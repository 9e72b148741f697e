/** Opens every page in Chromium while payments are made: no error, no request to another host, no axe violation. */
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { createTwin, type Twin, type TwinIntegration } from '@payment-integration/testing/twin'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Console, createConsole } from './create-console.js'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe.skipIf(executablePath === undefined)('the console in Chromium', () => {
  let twin: Twin
  let pages: Console
  let server: Server
  let url: string
  let browser: Browser
  let shop: TwinIntegration
  let fails = true
  const paid: { chainId: string; txHash: string }[] = []

  beforeAll(async () => {
    twin = await createTwin({ seed: 11, startMs: Date.now() - 60_000 })
    shop = await twin.addIntegration(() => new Response('Oops', { status: fails ? 500 : 204 }))
    for (let n = 0; n < 6; n += 1) {
      fails = n % 2 === 0
      const one = await twin.pay({ integrationAddress: shop.address, memo: `order-${n}` })
      paid.push(one)
      await twin.update(one, { state: n === 3 ? 'failure' : 'success' })
      await twin.update(one, { state: 'pending' })
    }
    const broken = { title: '<script>alert(1)</script>\u202e'.repeat(40), subtitle: null }
    await twin.update(paid[0] ?? { chainId: '', txHash: '' }, { recipient: broken })
    pages = createConsole({
      service: twin.service,
      now: twin.now,
      config: { masterKey: 'set', chains: [{ chainId: 1 }] },
    })
    server = createServer(async (request, response) => {
      const address = `http://${request.headers.host}${request.url}`
      const answer = await pages.fetch(new Request(address, { headers: request.headers as Record<string, string> }))
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      const reader = answer.body?.getReader()
      response.on('close', () => void reader?.cancel())
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
        response.write(part.value)
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/console`
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }), args })
  })
  afterAll(async () => {
    await browser?.close()
    pages?.close()
    server?.closeAllConnections()
    server?.close()
    await twin?.close()
  })

  const paths = () => {
    const [first] = paid
    return [
      '',
      '/payments',
      '/payments?state=failure',
      '/payments?q=nothing',
      '/deliveries',
      '/endpoints',
      '/chains',
      '/integrations',
      `/integrations/${shop.address}`,
      '/accounts',
      '/keys',
      '/identity',
      '/legacy',
      '/audit',
      '/settings',
      '/nothing',
      `/payments/${first?.chainId}/${first?.txHash}?a=1&b=2`,
    ]
  }

  for (const width of [1280, 390])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`at ${width} px, ${colorScheme}: no error, no foreign request, no overflow, and axe finds nothing`, async () => {
        const page = patient(await browser.newPage({ viewport: { width, height: 900 }, colorScheme }))
        const complaints = watch(page, url)
        for (const path of paths()) {
          await page.goto(`${url}${path}`, { waitUntil: 'load' })
          if (path === '') await page.locator('#chart-latency canvas').waitFor()
          expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBeLessThanOrEqual(0)
          await page.evaluate(axe)
          const found = (await page.evaluate('axe.run(document)')) as {
            violations: readonly { id: string; nodes: { html: string }[] }[]
          }
          const violations = found.violations.map(
            ({ id, nodes }) => `${path} ${id}: ${nodes.map(({ html }) => html).join(' ')}`,
          )
          expect(violations).toEqual([])
        }
        expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
        await page.close()
      })

  it('a new payment appears by itself, waits while one reads further down, and leads to its page', async () => {
    fails = false
    const page = patient(await browser.newPage({ viewport: { width: 1280, height: 500 } }))
    await page.goto(`${url}/payments`)
    await page.locator('#live', { hasText: /^live$/ }).waitFor()
    const first = await twin.pay({ integrationAddress: shop.address, memo: 'seen-live' })
    await page.locator('#rows tr', { hasText: 'seen-live' }).waitFor()
    await page.evaluate(
      'document.body.insertAdjacentHTML("beforeend", "<p>" + "line<br>".repeat(200) + "</p>"); scrollTo(0, 400)',
    )
    await page.locator('#live', { hasText: /^paused/ }).waitFor()
    await twin.pay({ integrationAddress: shop.address, memo: 'seen-later' })
    await page.locator('#live', { hasText: /^paused, \d+ change/ }).waitFor()
    expect(await page.locator('#rows tr', { hasText: 'seen-later' }).count()).toBe(0)
    await page.locator('#live').click()
    await page.locator('#rows tr', { hasText: 'seen-later' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('seen-live')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=seen-live/)
    await page.locator('#rows a.hex').first().click()
    await page.waitForURL(new RegExp(first.txHash))
    await page.locator('#live', { hasText: /^live$/ }).waitFor()
    await twin.update(first, { state: 'success' })
    await page.locator('.timeline li.version', { hasText: 'Version 2' }).waitFor()
    await page.close()
  })

  it('without JavaScript every page shows its rows', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = patient(await context.newPage())
    await page.goto(`${url}/payments`)
    expect(await page.locator('#rows tr').count()).toBeGreaterThanOrEqual(6)
    await page.locator('select[name=state]').selectOption('failure')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await page.locator('#rows tr').count()).toBe(1)
    await context.close()
  })
})

/** A slow machine is no failure: the limit only ends what hangs. */
function patient(page: Page): Page {
  page.setDefaultTimeout(300_000)
  return page
}

/** Collects errors of the browser, and requests to other hosts. */
function watch(page: Page, url: string): string[] {
  const complaints: string[] = []
  const { origin } = new URL(url)
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) complaints.push(request.url())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  return complaints
}
