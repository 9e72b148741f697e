/** The reference page in a real browser. */
import type { OpenApiDocument } from '@payment-integration/contract/openapi'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing, isChromiumMissing, launchChromium } from '../../../console/test/chromium.js'
import { type Documented, hashes, startDocumented } from '../../test/support/documented-service.js'
import { startPrefixProxy } from '../../test/support/prefix-proxy.js'

/** The parts of a DOM element in use: this repository compiles without DOM types. */
interface PageElement {
  querySelector(selectors: string): { readonly textContent: string | null } | null
}

/** Starting a browser on a busy machine is slow. */
const slowMs = 60_000

describe.skipIf(isChromiumMissing)(
  `the reference page in Chromium${chromiumMissing}`,
  () => {
    let documented: Documented
    let browser: Browser
    let page: Page
    /** Requests of the page, and errors of the browser. */
    const requests: string[] = []
    const complaints: string[] = []

    beforeAll(async () => {
      documented = await startDocumented()
      browser = await launchChromium()
      page = await browser.newPage({ viewport: { width: 1280, height: 1600 } })
      page.setDefaultTimeout(300_000)
      page.on('request', (request) => requests.push(request.url()))
      page.on('response', (response) => {
        if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
      })
      page.on('requestfailed', (request) => complaints.push(`failed ${request.url()}`))
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
      })
      await page.goto(`${documented.url}/reference`)
      await page.locator('.opblock').first().waitFor()
    }, slowMs)
    afterAll(() => Promise.all([browser?.close(), documented?.stop()]), slowMs)

    it('shows the service, its version, its server, every operation and the notification', async () => {
      const answer = await fetch(`${documented.url}/openapi.json`)
      const document = (await answer.json()) as OpenApiDocument
      const operations = Object.entries<object>(document.paths).flatMap(([path, item]) =>
        Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
      )
      expect(await page.title()).toBe('Payment Integration Service: reference')
      expect(await page.locator('.info .title').innerText()).toContain(document.info.title)
      expect(await page.locator('.info .title').innerText()).toContain(document.info.version)
      expect(await page.locator('.servers option').allInnerTexts()).toEqual(['./ - This service'])
      expect(await shownOperations()).toEqual([...operations, 'POST paymentSnapshot'])
    })

    it('lists payments with typed credentials, and shows the real answer', async () => {
      await page.locator('.auth-wrapper .authorize').first().click()
      await page.getByLabel('auth-basic-username').fill(documented.shop.address)
      await page.getByLabel('auth-basic-password').fill(documented.shop.apiSecret)
      await page
        .locator('.auth-container', { hasText: 'integration' })
        .getByRole('button', { name: 'Apply credentials' })
        .click()
      await page.locator('.dialog-ux .close-modal').click()
      expect(await tryOut('Payments-listPayments')).toEqual(['200', expect.stringContaining(hashes.single)])
    })

    it('sent requests only to its own server, and the browser logged no error', () => {
      expect(requests.length).toBeGreaterThan(8)
      expect(requests.filter((url) => !url.startsWith(`${documented.url}/`) && !url.startsWith('data:'))).toEqual([])
      expect(complaints).toEqual([])
    })

    it('forgets credentials on reload, and shows a 401 without a dialog of the browser', async () => {
      // Not `reload`: the fragment would open the operation at some later moment, and a click would close it.
      await page.goto('about:blank')
      await page.goto(`${documented.url}/reference`)
      await page.locator('.opblock').first().waitFor()
      expect(await tryOut('Payments-listPayments')).toEqual(['401', expect.stringContaining('Unauthorized')])
    })

    it('works below a prefix that a proxy strips', async () => {
      const proxy = await startPrefixProxy('/pay', documented.url)
      try {
        await page.goto(`${proxy.url}/`)
        await page.locator('.opblock').first().waitFor()
        expect(page.url()).toBe(`${proxy.url}/reference`)
        expect(await tryOut('Health-getHealth')).toEqual(['200', expect.stringContaining('"database": "ok"')])
        expect(proxy.passed).toContain('/health')
      } finally {
        await proxy.stop()
      }
    })

    function shownOperations(): Promise<string[]> {
      return page
        .locator('.opblock-summary-control')
        .evaluateAll((all) =>
          all.map((each) =>
            ['.opblock-summary-method', '.opblock-summary-path']
              .map((part) => (each as unknown as PageElement).querySelector(part)?.textContent)
              .join(' '),
          ),
        )
    }

    /** Status and body that the page shows after its own request. */
    async function tryOut(id: string): Promise<[string, string]> {
      const block = page.locator(`#operations-${id}`)
      await block.locator('.opblock-summary-control').click()
      await block.getByRole('button', { name: 'Try it out' }).click()
      await block.getByRole('button', { name: 'Execute' }).click()
      const live = block.locator('.live-responses-table .response')
      await live.waitFor()
      const status = await live.locator('.response-col_status').innerText()
      return [status.trim(), await live.locator('.response-col_description').innerText()]
    }
  },
  slowMs,
)
