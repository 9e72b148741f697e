/** Opens every page in Chromium while payments are made: no error, no request to another host, no axe violation. */
import { createTwin, type Twin, type TwinIntegration } from '@payment-integration/testing/twin'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  chromiumMissing,
  flawsOf,
  isChromiumMissing,
  launchChromium,
  looks,
  openPage,
  type ServedPages,
  servePages,
} from '../test/chromium.js'
import { type Console, createConsole } from './create-console.js'

describe.skipIf(isChromiumMissing)(`the console in Chromium${chromiumMissing}`, () => {
  let twin: Twin
  let pages: Console
  let served: ServedPages
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
      settings: [
        { name: 'PI_MASTER_KEY', section: 'Required and basic', value: 'set', isDefault: false, doc: 'Keep it.' },
        { name: 'PI_PORT', section: 'Required and basic', value: '4747', isDefault: true, doc: 'Port to listen on.' },
      ],
    })
    served = await servePages(() => pages)
    url = `${served.origin}/console`
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    pages?.close()
    served?.close()
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

  for (const { width, colorScheme } of looks)
    it(`at ${width} px, ${colorScheme}: no error, no foreign request, no overflow, and axe finds nothing`, async () => {
      const { page, complaints } = await openPage(browser, served.origin, {
        viewport: { width, height: 900 },
        colorScheme,
      })
      for (const path of paths()) {
        await page.goto(`${url}${path}`, { waitUntil: 'load' })
        if (path === '') await page.locator('#chart-latency canvas').waitFor()
        expect(await flawsOf(page, `${width}-${colorScheme}${path}`)).toEqual([])
      }
      expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
      await page.context().close()
    })

  it('a new payment appears by itself, waits while one reads further down, and leads to its page', async () => {
    fails = false
    const { page } = await openPage(browser, served.origin, { viewport: { width: 1280, height: 500 } })
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
    await page.context().close()
  })

  it('without JavaScript every page shows its rows', async () => {
    const { page } = await openPage(browser, served.origin, { javaScriptEnabled: false })
    await page.goto(`${url}/payments`)
    expect(await page.locator('#rows tr').count()).toBeGreaterThanOrEqual(6)
    await page.locator('select[name=state]').selectOption('failure')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await page.locator('#rows tr').count()).toBe(1)
    await page.context().close()
  })
})
