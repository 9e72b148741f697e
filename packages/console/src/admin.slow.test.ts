/** An admin signs in and acts in Chromium, with and without JavaScript: no axe violation, no overflow. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createTwin, type Twin } from '@payment-integration/testing/twin'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedPages, servePages } from '../test/serve-pages.js'
import { type Console, createConsole } from './create-console.js'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** A folder for pictures of the pages; unset: none are made. */
const pictures = process.env['CONSOLE_PICTURES']
const passphrase = 'correct horse battery'
const address = `0x${'ab'.repeat(20)}`

describe.skipIf(executablePath === undefined)('an admin in Chromium', () => {
  let twin: Twin
  let pages: Console
  let served: ServedPages
  let browser: Browser
  let sources = 0
  let query = ''

  beforeAll(async () => {
    twin = await createTwin({ seed: 31, startMs: Date.now() - 60_000 })
    const { accounts, operators, operatorSessions, legacyKeys } = twin.service
    const shop = await twin.addIntegration()
    await accounts.create({
      ...{ handle: 'shop', address: `0x${'c3'.repeat(20)}` },
      config: { coins: [{ chainId: 137, tokens: [{ symbol: 'USDC' }] }] },
    })
    await legacyKeys.create({ name: '<b>till' })
    await stuckVerifications(twin, shop.address)
    const paid = await twin.pay({ chainId: 137, integrationAddress: shop.address })
    query = `?chain=137&hash=${paid.txHash}&amount=1&currency=USD&payee=shop`
    for (const [name, role] of [
      ['ada', 'admin'],
      ['olga', 'operator'],
    ] as const) {
      const { linkToken } = await operators.create({ name, role })
      await operatorSessions.redeemLink({ linkToken, passphrase })
    }
    const sourceOf = () => `192.0.2.${sources++ % 200}`
    served = await servePages((publicUrl) => {
      pages = createConsole({ service: twin.service, now: twin.now, signIn: { publicUrl, sourceOf } })
      return pages
    })
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }), args })
  })
  afterAll(async () => {
    await browser?.close()
    pages?.close()
    served?.close()
    await twin?.close()
  })

  const paths = () => [
    ...['/identity', '/legacy', `/legacy${query}`, '/integrations', `/integrations/${address}`],
    ...['/accounts', '/accounts/shop', '/keys', '/operators', '/audit'],
  ]

  async function signIn(context: BrowserContext): Promise<Page> {
    const page = await context.newPage()
    // A slow machine is no failure: the limit only ends what hangs.
    page.setDefaultTimeout(300_000)
    await page.goto(`${served.origin}/console`)
    await page.locator('#name').fill('ada')
    await page.locator('#passphrase').fill(passphrase)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    return page
  }

  async function check(page: Page, name: string): Promise<void> {
    if (pictures !== undefined) {
      mkdirSync(pictures, { recursive: true })
      await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true })
    }
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).toBeLessThanOrEqual(0)
    await page.evaluate(axe)
    const { violations } = (await page.evaluate('axe.run(document)')) as {
      violations: readonly { id: string; nodes: { html: string }[] }[]
    }
    const texts = violations.map(({ id, nodes }) => `${name} ${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    expect(texts).toEqual([])
  }

  it('without JavaScript an integration is created, and its secrets are shown once', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await signIn(context)
    await page.goto(`${served.origin}/console/integrations`)
    await page.locator('input[name=address]').fill(address)
    await page.getByRole('button', { name: 'Create the integration' }).click()
    const secrets = await page.locator('.copy pre').allTextContents()
    expect(secrets).toHaveLength(2)
    await page.getByRole('link', { name: 'Go on' }).click()
    for (const secret of secrets) expect(await page.content()).not.toContain(secret)
    await page.getByLabel('Its requests are answered 401').check()
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('The integration is disabled').waitFor()
    await context.close()
  })

  for (const width of [1280, 390])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`at ${width} px, ${colorScheme}: no page overflows, and axe finds nothing`, async () => {
        const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
        const page = await signIn(context)
        for (const path of paths()) {
          await page.goto(`${served.origin}/console${path}`, { waitUntil: 'load' })
          const [section = ''] = path.slice(1).split('?')
          await check(
            page,
            `${width}-${colorScheme}-${section.replaceAll('/', '-').slice(0, 30)}${path.includes('?') ? '-asked' : ''}`,
          )
        }
        await page.goto(`${served.origin}/console/operators`)
        await page.locator('input[name=name]:not([type=hidden])').fill(`new-${width}-${colorScheme}`)
        await page.getByRole('button', { name: 'Create the operator' }).click()
        await page.getByText('This page shows it once.').waitFor()
        await check(page, `${width}-${colorScheme}-link-once`)
        await context.close()
      })
})

/** Makes a verification on hold, and a redemption with an unknown outcome whose lease is over. */
async function stuckVerifications(twin: Twin, integrationAddress: string): Promise<void> {
  const { provider, shareToken, setActive } = twin.identity
  const share = (email: string, token: string) =>
    twin.service.identity?.share({ integrationAddress, email, shareToken: token })
  const held = shareToken()
  await share('ada@example.com', held)
  await twin.advance(0)
  await setActive(held, false)
  provider.setWebhooks('PaymentService', [])
  provider.fail({ on: 'reuse', at: 'after', answer: 'lost' })
  for (let n = 0; n < 400; n += 1) provider.fail({ on: 'find', at: 'before', answer: 'lost' })
  await share('grace@example.com', shareToken())?.catch(() => undefined)
  await twin.advance(3 * 3_600_000)
}
