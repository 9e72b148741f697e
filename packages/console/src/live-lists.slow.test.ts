/** Lists in Chromium: changed rows stand at their place, and the keys work. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createTwin, type Twin, type TwinIntegration, type TwinPayment } from '@payment-integration/testing/twin'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumOptions, chromiumPath, type ServedPages, servePages } from '../test/serve-pages.js'
import { createConsole } from './create-console.js'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Rows of a page, and some more. */
const payments = 53

describe.skipIf(chromiumPath === undefined)('live lists in Chromium', () => {
  let twin: Twin
  let shop: TwinIntegration
  let served: ServedPages
  let browser: Browser
  const paid: TwinPayment[] = []

  beforeAll(async () => {
    twin = await createTwin({ seed: 21 })
    shop = await twin.addIntegration(() => new Response(null, { status: 204 }))
    for (let n = 0; n < payments; n += 1)
      paid.push(await twin.pay({ integrationAddress: shop.address, memo: `order-${n};` }))
    served = await servePages(() => createConsole({ service: twin.service, now: twin.now }))
    browser = await chromium.launch(chromiumOptions)
  })
  afterAll(async () => {
    await browser?.close()
    served?.close()
    await twin?.close()
  })

  async function open(path: string): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    page.setDefaultTimeout(300_000)
    await page.goto(`${served.origin}/console${path}`)
    await page.locator('#live', { hasText: /^live$/ }).waitFor()
    return page
  }
  const memos = (page: Page) => page.locator('#rows td[data-label=Memo]').allInnerTexts()
  const payment = (n: number): TwinPayment => paid[n] ?? { chainId: '', txHash: '' }
  /** A change that every open list gets after the earlier ones. */
  async function payLast(page: Page, memo: string): Promise<void> {
    await twin.pay({ integrationAddress: shop.address, memo })
    await page.locator('#rows tr', { hasText: memo }).waitFor()
  }

  it('a changed row keeps its place, and one that is older than the page is left out', async () => {
    const page = await open('/payments')
    const before = await memos(page)
    await twin.update(payment(30), { state: 'success' })
    await twin.update(payment(0), { state: 'success' })
    await payLast(page, 'marker-1')
    expect(await memos(page)).toEqual(['marker-1', ...before])
    expect(await page.locator('#rows tr', { hasText: 'order-30;' }).innerText()).toContain('success')
    await page.close()
  })

  it('a row that begins to match a filter stands at its place by time', async () => {
    const page = await open('/payments?state=success')
    await twin.update(payment(20), { state: 'success' })
    await page.locator('#rows tr', { hasText: 'order-20;' }).waitFor()
    expect(await memos(page)).toEqual(['order-30;', 'order-20;', 'order-0;'])
    await page.close()
  })

  it('r loads the rows again and ends a pause', async () => {
    const page = await open('/payments')
    await page.locator('#live').click()
    await page.locator('#live', { hasText: /^paused/ }).waitFor()
    await twin.pay({ integrationAddress: shop.address, memo: 'paused-1' })
    await page.locator('#live', { hasText: /1 change$/ }).waitFor()
    await page.keyboard.press('r')
    await page.locator('#rows tr', { hasText: 'paused-1' }).waitFor()
    await page.locator('#live', { hasText: /^live$/ }).waitFor()
    await payLast(page, 'marker-2')
    await page.close()
  })

  it('? opens the keys, axe finds nothing in them, and Escape gives the focus back', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open('/payments')
      await page.emulateMedia({ colorScheme })
      await page.keyboard.press('j')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys' }).waitFor()
      await page.evaluate(axe)
      expect(await page.evaluate('axe.run(document).then(({ violations }) => violations.map(({ id }) => id))')).toEqual(
        [],
      )
      // Other keys do nothing while it is open.
      await page.keyboard.press('/')
      await page.keyboard.press('Escape')
      expect(await page.getByRole('dialog').count()).toBe(0)
      expect(await page.evaluate('document.activeElement.closest("#rows") !== null')).toBe(true)
      await page.getByRole('button', { name: 'Keys' }).click()
      await page.getByRole('button', { name: 'Close' }).click()
      expect(await page.getByRole('dialog').count()).toBe(0)
      await page.close()
    }
  })

  it('a reloaded payment page has its copy buttons, and its open details stay open', async () => {
    const { chainId, txHash } = payment(1)
    const page = await open(`/payments/${chainId}/${txHash}`)
    await page.locator('#repeat summary').first().click()
    await page.locator('#repeat [data-copy]').first().waitFor()
    await twin.update(payment(1), { state: 'success' })
    await page.keyboard.press('r')
    await page.locator('.timeline li.version', { hasText: 'Version 2' }).waitFor()
    await page.locator('#repeat [data-copy]').first().waitFor()
    await page.close()
  })
})
