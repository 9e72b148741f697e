/** Opens every page in Chromium while payments are made: no error, no request to another host, no axe violation. */
import type { Twin, TwinIntegration } from '@payment-integration/testing/twin'
import { expect, it } from 'vitest'
import { describeInChromium } from '../test/browser-suite.js'
import { getFlaws, looks } from '../test/chromium.js'
import { type Console, createConsole } from './create-console.js'

let shop: TwinIntegration
let fails = true
let legacyQuery = ''
const paid: { chainId: string; txHash: string }[] = []

async function build(twin: Twin): Promise<Console> {
  shop = await twin.addIntegration(() => new Response('Oops', { status: fails ? 500 : 204 }))
  await stuckVerifications(twin, shop.address)
  const config = { coins: [{ chainId: 137, tokens: [{ symbol: 'USDC' }] }] }
  await twin.service.accounts.create({ handle: 'shop', address: `0x${'c3'.repeat(20)}`, config })
  await twin.service.legacyKeys.create({ name: '<b>till' })
  for (let n = 0; n < 6; n += 1) {
    fails = n % 2 === 0
    const one = await twin.pay({ integrationAddress: shop.address, memo: `order-${n}` })
    paid.push(one)
    await twin.update(one, { state: n === 3 ? 'failure' : 'success' })
    await twin.update(one, { state: 'pending' })
  }
  const { chainId, txHash } = await twin.pay({ chainId: 137, integrationAddress: shop.address })
  legacyQuery = `?chain=${chainId}&hash=${txHash}&amount=1&currency=USD&payee=shop`
  const broken = { title: '<script>alert(1)</script>\u202e'.repeat(40), subtitle: null }
  await twin.update(paid[0] ?? { chainId: '', txHash: '' }, { recipient: broken })
  const key = { name: 'PI_MASTER_KEY', section: 'Required and basic', value: 'set', isDefault: false, doc: 'Keep it.' }
  const settings = [key, { ...key, name: 'PI_PORT', value: '4747', isDefault: true, doc: 'Port to listen on.' }]
  return createConsole({ service: twin.service, clock: twin.clock, settings })
}

const hourMs = 3_600_000
const twinOptions = { seed: 11, startMs: Date.now() - 3 * hourMs - 60_000 }
describeInChromium('the console', twinOptions, build, (suite) => {
  const getUrl = (path: string) => `${suite.origin}/console${path}`

  const paths = () => [
    ...['', '/payments', '/payments?state=failure', '/payments?q=nothing', '/deliveries', '/endpoints', '/chains'],
    ...['/integrations', `/integrations/${shop.address}`, '/accounts', '/accounts/shop', '/keys', '/identity'],
    ...['/legacy', `/legacy${legacyQuery}`, '/audit', '/jobs', '/settings', '/nothing'],
    ...[`/payments/${paid[0]?.chainId}/${paid[0]?.txHash}?a=1&b=2`],
  ]

  for (const { width, colorScheme } of looks)
    it(`at ${width} px, ${colorScheme}: no error, no foreign request, no overflow, and axe finds nothing`, async () => {
      const { page, complaints } = await suite.open({ viewport: { width, height: 900 }, colorScheme })
      for (const path of paths()) {
        await page.goto(getUrl(path), { waitUntil: 'load' })
        if (path === '') await page.locator('#chart-latency canvas').waitFor()
        expect(await getFlaws(page, `${width}-${colorScheme}${path}`)).toEqual([])
      }
      expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
    })

  it('a new payment appears by itself, waits while one reads further down, and leads to its page', async () => {
    fails = false
    const { page } = await suite.open({ viewport: { width: 1280, height: 500 } })
    await page.goto(getUrl('/payments'))
    await page.locator('#live', { hasText: /^live$/ }).waitFor()
    const first = await suite.twin.pay({ integrationAddress: shop.address, memo: 'seen-live', amount: '7.123456' })
    await page.locator('#rows tr', { hasText: 'seen-live' }).waitFor()
    const points = `[...document.querySelectorAll('[data-label="Received"] .fraction')].map((each) => each.offsetLeft)`
    expect(await page.evaluate(`new Set(${points}).size`)).toBe(1)
    await page.evaluate('document.body.insertAdjacentHTML("beforeend", "line<br>".repeat(200)); scrollTo(0, 400)')
    await page.locator('#live', { hasText: /^paused/ }).waitFor()
    await suite.twin.pay({ integrationAddress: shop.address, memo: 'seen-later' })
    await page.locator('#live', { hasText: /^paused, \d+ change/ }).waitFor()
    expect(await page.locator('#rows tr', { hasText: 'seen-later' }).count()).toBe(0)
    await page.locator('#live').click()
    await page.locator('#rows tr', { hasText: 'seen-later' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('seen-live')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(first.txHash))
    await page.locator('#live', { hasText: /^live$/ }).waitFor()
    await suite.twin.update(first, { state: 'success' })
    await page.locator('.timeline li.version', { hasText: 'Version 2' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('seen')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=seen$/)
    expect(await page.locator('#rows tr').count()).toBe(2)
  })

  it('a click copies a hash, times become local and stay so, and the menu opens on a narrow screen', async () => {
    const permissions = ['clipboard-read', 'clipboard-write']
    const viewport = { width: 390, height: 800 }
    const { page } = await suite.open({ viewport, timezoneId: 'Asia/Kolkata', permissions })
    const [first] = paid
    await page.goto(getUrl(`/payments/${first?.chainId}/${first?.txHash}`))
    await page.locator(`[data-copy="${first?.txHash}"]`).last().click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(first?.txHash)
    const time = page.locator('main time').first()
    const utc = Date.parse((await time.getAttribute('datetime')) ?? '')
    const readTime = async () => (await time.textContent())?.replace(' ', 'T')
    const after = (ms: number) => new Date(utc + ms).toISOString().slice(0, 19)
    expect(await readTime()).toBe(after(0))
    await page.getByRole('button', { name: 'UTC' }).click()
    expect(await readTime()).toBe(after(5.5 * 3_600_000))
    await page.reload()
    await page.getByRole('button', { name: 'Local' }).waitFor()
    expect(await readTime()).toBe(after(5.5 * 3_600_000))
    expect(await page.getByRole('link', { name: 'Deliveries' }).isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).click()
    expect(await getFlaws(page, '390-menu')).toEqual([])
    await page.getByRole('link', { name: 'Deliveries' }).click()
    await page.waitForURL(/\/deliveries$/)
  })

  it('on a narrow screen a payment shows its invoice', async () => {
    const invoice = { amount: '25.00', currency: 'EUR', settlementAmount: '27.00', settlementCurrency: 'USD' }
    const one = await suite.twin.pay({ integrationAddress: shop.address, memo: 'with-invoice' })
    await suite.twin.update(one, { state: 'pending', invoice })
    const { page } = await suite.open({ viewport: { width: 390, height: 800 } })
    await page.goto(getUrl('/payments'))
    const cell = page.locator('#rows tr', { hasText: 'with-invoice' }).locator('[data-label="Invoice"]')
    expect(await cell.innerText()).toMatch(/25\.00\s+EUR/)
    expect(await cell.isVisible()).toBe(true)
  })

  it('without JavaScript every page shows its rows', async () => {
    const { page } = await suite.open({ javaScriptEnabled: false })
    await page.goto(getUrl('/payments'))
    expect(await page.locator('#rows tr').count()).toBeGreaterThanOrEqual(6)
    await page.locator('select[name=state]').selectOption('failure')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await page.locator('#rows tr').count()).toBe(1)
  })

  it('without JavaScript an integration is created, and its secrets are shown once', async () => {
    const { page } = await suite.open({ javaScriptEnabled: false })
    await page.goto(getUrl('/integrations'))
    await page.locator('input[name=address]').fill(`0x${'ab'.repeat(20)}`)
    await page.getByRole('button', { name: 'Create the integration' }).click()
    const secrets = await page.locator('.copy pre').allTextContents()
    expect(secrets).toHaveLength(2)
    await page.getByRole('link', { name: 'Continue' }).click()
    for (const secret of secrets) expect(await page.content()).not.toContain(secret)
    await page.getByLabel('Requests get 401').check()
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('The integration is disabled').waitFor()
  })
})

/** Makes a verification on hold, and a redemption with an unknown outcome whose lease is over. */
async function stuckVerifications(twin: Twin, integrationAddress: string): Promise<void> {
  const { provider, shareToken, setActive } = twin.identity
  const share = (email: string, token: string) =>
    twin.service.identity?.share({ integrationAddress, email, shareToken: token })
  const heldToken = shareToken()
  await share('ada@example.com', heldToken)
  await twin.advance(0)
  await setActive(heldToken, false)
  provider.setWebhooks('PaymentService', [])
  provider.fail({ on: 'reuse', at: 'after', answer: 'lost' })
  for (let n = 0; n < 400; n += 1) provider.fail({ on: 'find', at: 'before', answer: 'lost' })
  await share('grace@example.com', shareToken())?.catch(() => undefined)
  await twin.advance(3 * hourMs)
}
