/** Lists in Chromium: changed rows stand at their place, and the keys work. */
import type { Twin, TwinIntegration, TwinPayment } from '@payment-integration/testing/twin'
import type { Page } from 'playwright-core'
import { expect, it, vi } from 'vitest'
import { describeInChromium } from '../test/browser-suite.js'
import { getFlaws } from '../test/chromium.js'
import { type Console, createConsole } from './create-console.js'

/** Rows of a page, and some more. */
const payments = 53

let shop: TwinIntegration
let failsNewest = false
/** Streams that are open now. */
const streams = new Set<string>()
const paid: TwinPayment[] = []

async function build(twin: Twin): Promise<Pick<Console, 'fetch'>> {
  shop = await twin.addIntegration(() => new Response(null, { status: 204 }))
  for (let n = 0; n < payments; n += 1)
    paid.push(await twin.pay({ integrationAddress: shop.address, memo: `order-${n};` }))
  const { newest } = twin.service.queries
  vi.spyOn(twin.service.queries, 'newest').mockImplementation((limit) =>
    failsNewest ? Promise.reject(new Error('away')) : newest(limit),
  )
  const pages = createConsole({ service: twin.service, clock: twin.clock })
  return { fetch: (request) => counted(pages, request) }
}

/** Answers, and knows which streams are open. */
async function counted(pages: Pick<Console, 'fetch'>, request: Request): Promise<Response> {
  const answer = await pages.fetch(request)
  if (!request.url.includes('/console/live') || answer.body === null) return answer
  streams.add(request.url)
  const reader = answer.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel() {
      streams.delete(request.url)
      return reader.cancel()
    },
  })
  return new Response(body, { headers: answer.headers })
}

describeInChromium('live lists', { seed: 21 }, build, (suite) => {
  async function open(path: string): Promise<Page> {
    const { page } = await suite.open({ viewport: { width: 1280, height: 900 } })
    await page.goto(`${suite.origin}/console${path}`)
    await page.locator('#live', { hasText: /^live$/ }).waitFor()
    return page
  }
  /** What a browser does with a tab in the background. */
  const setHidden = (page: Page, isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} })
      document.dispatchEvent(new Event('visibilitychange'))`)
  const memos = (page: Page) => page.locator('#rows td[data-label=Memo]').allInnerTexts()
  const payment = (n: number): TwinPayment => paid[n] ?? { chainId: '', txHash: '' }
  /** A change that every open list gets after the earlier ones. */
  async function payLast(page: Page, memo: string): Promise<void> {
    await suite.twin.pay({ integrationAddress: shop.address, memo })
    await page.locator('#rows tr', { hasText: memo }).waitFor()
  }

  it('a changed row keeps its place, and one that is older than the page is left out', async () => {
    const page = await open('/payments')
    const before = await memos(page)
    await suite.twin.update(payment(30), { state: 'success' })
    await suite.twin.update(payment(0), { state: 'success' })
    await payLast(page, 'marker-1')
    expect(await memos(page)).toEqual(['marker-1', ...before])
    expect(await page.locator('#rows tr', { hasText: 'order-30;' }).innerText()).toContain('success')
  })

  it('a row that begins to match a filter stands at its place by time', async () => {
    const page = await open('/payments?state=success')
    await suite.twin.update(payment(20), { state: 'success' })
    await page.locator('#rows tr', { hasText: 'order-20;' }).waitFor()
    expect(await memos(page)).toEqual(['order-30;', 'order-20;', 'order-0;'])
  })

  it('r loads the rows again and ends a pause', async () => {
    const page = await open('/payments')
    await page.locator('#live').click()
    await page.locator('#live', { hasText: /^paused/ }).waitFor()
    await suite.twin.pay({ integrationAddress: shop.address, memo: 'paused-1' })
    await page.locator('#live', { hasText: /1 change$/ }).waitFor()
    await page.keyboard.press('r')
    await page.locator('#rows tr', { hasText: 'paused-1' }).waitFor()
    await page.locator('#live', { hasText: /^live$/ }).waitFor()
    await payLast(page, 'marker-2')
  })

  it('a hidden page holds no stream, and shows the changes of meanwhile once it is visible', async () => {
    const page = await open('/payments')
    await vi.waitFor(() => expect(streams.size).toBe(1), 300_000)
    const [first = ''] = streams
    await setHidden(page, true)
    await vi.waitFor(() => expect(streams.size).toBe(0), 300_000)
    await suite.twin.pay({ integrationAddress: shop.address, memo: 'meanwhile-1' })
    await setHidden(page, false)
    await page.locator('#rows tr', { hasText: 'meanwhile-1' }).waitFor()
    const [second = ''] = streams
    const after = (url: string) => new URL(url).searchParams.getAll('after')
    expect(after(second)).toHaveLength(1)
    expect(new URL(second).searchParams.get('topic')).toBe(new URL(first).searchParams.get('topic'))
  })

  it('the badge says that the database does not answer, until it answers again', async () => {
    const page = await open('/payments')
    failsNewest = true
    await page.locator('#live', { hasText: /^failing$/ }).waitFor()
    failsNewest = false
    await page.locator('#live', { hasText: /^live$/ }).waitFor()
  })

  it('a page does not load again while one types into it', async () => {
    const page = await open('/payments')
    const field = page.locator('main input[name=since]')
    await field.fill('2026-01-31T12:00')
    const before = await suite.twin.service.store.console.newest(300)
    const burst = { ...before, payments: [...Array.from({ length: 101 }, (_, n) => String(9_000 + n))] }
    const reads = vi.spyOn(suite.twin.service.queries, 'newest').mockResolvedValueOnce(burst)
    await vi.waitFor(() => expect(reads.mock.calls.length).toBeGreaterThan(2), 300_000)
    await payLast(page, 'typed-1')
    expect(await field.inputValue()).toBe('2026-01-31T12:00')
    await page.evaluate('document.querySelector("main h1").textContent = "Old"')
    await page.evaluate('document.activeElement.blur()')
    await page.getByRole('heading', { name: 'Payments' }).waitFor()
  })

  it('while paused, more than a hundred changes become one, and the page loads again', async () => {
    const page = await open('/payments')
    await page.locator('#live').click()
    for (let n = 0; n <= 100; n += 1) await suite.twin.pay({ integrationAddress: shop.address, memo: `many-${n};` })
    await page.locator('#live', { hasText: /^paused, changed$/ }).waitFor()
    await page.locator('#live').click()
    await page.locator('#rows tr', { hasText: 'many-100;' }).waitFor()
  })

  it('? opens the keys, axe finds nothing in them, and Escape gives the focus back', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open('/payments')
      await page.emulateMedia({ colorScheme })
      await page.keyboard.press('j')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys' }).waitFor()
      expect(await getFlaws(page, `keys-${colorScheme}`)).toEqual([])
      // Other keys do nothing while it is open.
      await page.keyboard.press('/')
      await page.keyboard.press('Escape')
      expect(await page.getByRole('dialog').count()).toBe(0)
      expect(await page.evaluate('document.activeElement.closest("#rows") !== null')).toBe(true)
      await page.getByRole('button', { name: 'Keys' }).click()
      await page.getByRole('button', { name: 'Close' }).click()
      expect(await page.getByRole('dialog').count()).toBe(0)
    }
  })

  it('a reloaded payment page has its copy buttons, and its open details stay open', async () => {
    const { chainId, txHash } = payment(1)
    const page = await open(`/payments/${chainId}/${txHash}`)
    await page.locator('#repeat summary').first().click()
    await page.locator('#repeat [data-copy]').first().waitFor()
    await suite.twin.update(payment(1), { state: 'success' })
    await page.keyboard.press('r')
    await page.locator('.timeline li.version', { hasText: 'Version 2' }).waitFor()
    await page.locator('#repeat [data-copy]').first().waitFor()
  })
})
