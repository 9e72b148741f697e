/** A suite whose tests look at the pages of a twin in Chromium; skipped where there is none. @module */
import { createTwin, type Twin } from '@payment-integration/testing/twin'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import type { Console } from '../src/create-console.js'
import type { ServedPages } from './chromium.js'
import { chromiumMissing, isChromiumMissing, launchChromium, openPage, servePages } from './chromium.js'

/** The parts of a suite; there are none before its first test. */
export interface BrowserSuite {
  readonly twin: Twin
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string
  /** Opens a page without cookies until the test ends, with its complaints. */
  open(options?: BrowserContextOptions, origin?: string): Promise<{ page: Page; complaints: string[] }>
}

type Pages = Pick<Console, 'fetch'> & Partial<Pick<Console, 'close'>>

/** Fills the twin and builds its pages for their origin, and closes both when the tests have ended. */
export function describeInChromium(
  who: string,
  twinOptions: Parameters<typeof createTwin>[0],
  build: (twin: Twin, origin: string) => Promise<Pages>,
  tests: (suite: BrowserSuite) => void,
): void {
  describe.skipIf(isChromiumMissing)(`${who} in Chromium${chromiumMissing}`, () => {
    let twin: Twin
    let pages: Pages
    let served: ServedPages
    let browser: Browser
    beforeAll(async () => {
      twin = await createTwin(twinOptions)
      served = await servePages(async (origin) => {
        pages = await build(twin, origin)
        return pages
      })
      browser = await launchChromium()
    })
    afterAll(async () => {
      await browser?.close()
      pages?.close?.()
      served?.close()
      await twin?.close()
    })
    tests({
      get twin() {
        return twin
      },
      get origin() {
        return served.origin
      },
      async open(options, origin = served.origin) {
        const opened = await openPage(browser, origin, options)
        onTestFinished(() => opened.page.context().close())
        return opened
      },
    })
  })
}
