/** An integrator's way through the portal in Chromium: with and without JavaScript, no axe violation on any page. */
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { createTwin, type Twin, type TwinIntegration } from '@payment-integration/testing/twin'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPortal } from './create-portal.js'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** A folder for pictures of each page, to look at. */
const shots = process.env['SHOTS']

describe.skipIf(executablePath === undefined)('the portal in Chromium', () => {
  let twin: Twin
  let server: Server
  let url: string
  let browser: Browser
  let shop: TwinIntegration
  let fresh: TwinIntegration
  let payment: string
  let fails = true

  beforeAll(async () => {
    twin = await createTwin({ seed: 12, startMs: Date.now() - 60_000 })
    shop = await twin.addIntegration(() => new Response(fails ? 'Oops' : null, { status: fails ? 500 : 204 }))
    fresh = await twin.addIntegration()
    for (let n = 0; n < 6; n += 1) {
      const paid = await twin.pay({ integrationAddress: shop.address, memo: `order-${n}` })
      fails = n % 2 === 1
      await twin.update(paid, { state: n === 3 ? 'failure' : 'success' })
      payment = `/payments/${paid.chainId}/${paid.txHash}`
    }
    const broken = { title: '<script>alert(1)</script>\u202e'.repeat(40), subtitle: null }
    const last = payment.split('/')
    await twin.update({ chainId: last[2] ?? '', txHash: last[3] ?? '' }, { recipient: broken })
    const portal = createPortal({ service: twin.service, now: twin.now })
    server = createServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const headers = request.headers as Record<string, string>
      const body = request.method === 'POST' ? { body: Buffer.concat(parts) } : {}
      const given = { method: request.method ?? 'GET', headers, ...body }
      const answer = await portal.fetch(new Request(`http://${request.headers.host}${request.url}`, given))
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(Buffer.from(await answer.arrayBuffer()))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    // Chromium takes a Secure cookie over http from this name.
    url = `http://localhost:${typeof address === 'object' ? address?.port : ''}/portal`
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }), args })
  })
  afterAll(async () => {
    await browser?.close()
    server?.closeAllConnections()
    server?.close()
    await twin?.close()
  })

  async function open(options: BrowserContextOptions): Promise<{ page: Page; complaints: string[] }> {
    const page = await (await browser.newContext(options)).newPage()
    // A slow machine is no failure: the limit only ends what hangs.
    page.setDefaultTimeout(300_000)
    const complaints: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith('data:'))
        complaints.push(request.url())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    return { page, complaints }
  }

  async function signIn(page: Page, { address, apiSecret }: Pick<TwinIntegration, 'address' | 'apiSecret'>) {
    await page.goto(url)
    await page.getByLabel('Integration address').fill(address)
    await page.getByLabel('API secret').fill(apiSecret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  }

  /** No sideways scrolling, and nothing that axe finds. */
  async function check(page: Page, name: string): Promise<void> {
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).toBeLessThanOrEqual(0)
    if (shots !== undefined)
      await page.screenshot({ path: `${shots}/${name.replaceAll('/', '-')}.png`, fullPage: true })
    await page.evaluate(axe)
    const { violations } = (await page.evaluate('axe.run(document)')) as {
      violations: readonly { id: string; nodes: { html: string }[] }[]
    }
    expect(violations.map(({ id, nodes }) => `${name} ${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
  }

  for (const width of [1280, 390])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`at ${width} px, ${colorScheme}: no error, no foreign request, no overflow, and axe finds nothing`, async () => {
        const { page, complaints } = await open({ viewport: { width, height: 900 }, colorScheme })
        await page.goto(url)
        await check(page, `${width}-${colorScheme}-sign-in`)
        for (const [who, integration] of [
          ['shop', shop],
          ['fresh', fresh],
        ] as const) {
          await page.context().clearCookies()
          await signIn(page, integration)
          const own = who === 'shop' ? [`${payment}?a=1&b=2`, '/payments?wallet=x'] : ['/nothing']
          for (const path of ['', '/payments', '/deliveries', '/endpoint', '/secrets', ...own]) {
            await page.goto(`${url}${path}`, { waitUntil: 'load' })
            await check(
              page,
              `${width}-${colorScheme}-${who}${path.replace(/0x.*/, 'one').replace(/\?.*/, '-filtered')}`,
            )
          }
        }
        expect(complaints.filter((text) => !/40[04]/.test(text))).toEqual([])
        await page.context().close()
      })

  it('without JavaScript an integrator tests the endpoint, replays, and rotates both secrets', async () => {
    fails = false
    const { page } = await open({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } })
    await signIn(page, shop)
    await page.goto(`${url}${payment}`)
    await page.getByRole('button', { name: 'Replay version 1' }).click()
    await page.getByText('The delivery is due now.').waitFor()

    await page.getByRole('link', { name: 'Endpoint', exact: true }).first().click()
    await page.getByRole('button', { name: 'Send a test delivery' }).click()
    await page.getByText('The receiver accepted it').waitFor()
    if (shots !== undefined) await page.screenshot({ path: `${shots}/test-delivery.png`, fullPage: true })

    await page.getByRole('link', { name: 'Secrets' }).click()
    await page.getByRole('button', { name: 'Prepare a new signing secret' }).click()
    expect(await page.locator('pre').first().textContent()).toMatch(/^pi_whsec_[\w-]{43}$/)
    await page.getByRole('link', { name: 'Secrets' }).first().click()
    await page.getByLabel('The previous secret stays valid').last().fill('168')
    if (shots !== undefined) await page.screenshot({ path: `${shots}/prepared.png`, fullPage: true })
    await page.getByRole('button', { name: 'Activate the new signing secret' }).click()
    await page.getByText('Deliveries are signed with the new secret from now on.').waitFor()

    await page.getByRole('button', { name: 'Make a new API secret' }).click()
    const apiSecret = (await page.locator('pre').first().textContent()) ?? ''
    expect(apiSecret).toMatch(/^pi_api_[\w-]{43}$/)
    if (shots !== undefined) await page.screenshot({ path: `${shots}/new-api-secret.png`, fullPage: true })
    await page.reload()
    await page.getByText('is still valid; end it before you rotate again').waitFor()
    expect(await page.content()).not.toMatch(/pi_api_[\w-]{43}/)
    await page.goto(`${url}/secrets`)
    if (shots !== undefined) await page.screenshot({ path: `${shots}/two-secrets.png`, fullPage: true })
    await page.getByLabel('Every server of mine has the new one').check()
    await page.getByRole('button', { name: 'End the previous API secret now' }).click()
    // The session was opened with the previous secret.
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signIn(page, { address: shop.address, apiSecret })
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.content()).not.toContain(shop.address)
    await page.context().close()
  })
})
