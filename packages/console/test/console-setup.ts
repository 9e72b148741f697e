/** A console on a twin, as a browser without JavaScript gets its pages. @module */
import { createTwin, type Twin } from '@payment-integration/testing/twin'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type Console, type ConsoleDeps, createConsole } from '../src/create-console.js'

/** The address of this machine. */
export const localOrigin = 'http://127.0.0.1:4747'

type Fill = (twin: Twin) => Promise<unknown>

/** Fills a twin and builds its pages before the tests of a file, and closes both after them; before, there are none. */
export function setUpConsole(seed: number, fill: Fill, options: Partial<ConsoleDeps> = {}) {
  let twin: Twin
  let pages: Console
  beforeAll(async () => {
    twin = await createTwin({ seed })
    await fill(twin)
    pages = createConsole({ service: twin.service, clock: twin.clock, ...options })
  })
  afterAll(async () => {
    pages?.close()
    await twin?.close()
  })
  return {
    get twin() {
      return twin
    },
    get pages() {
      return pages
    },
    /** The text of a page. @param path - After `/console`. */
    get: (path: string) => getText(pages, path),
  }
}

/** The text of a page. @param path - After `/console`. */
export async function getText(pages: Pick<Console, 'fetch'>, path: string): Promise<string> {
  return (await pages.fetch(new Request(`${localOrigin}/console${path}`))).text()
}

type Service = Twin['service']

/** Opens further pages of a twin whose service is changed, for one test. */
export function openChanged(twin: Twin, change: Partial<Service>, laterMs = () => 0) {
  const clock = { now: () => twin.clock.now() + laterMs() }
  const pages = createConsole({ service: { ...twin.service, ...change }, clock })
  onTestFinished(() => pages.close())
  return { pages, get: (path: string) => getText(pages, path) }
}
