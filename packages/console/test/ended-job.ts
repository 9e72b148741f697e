/** Waits for the end of a job, as a person without JavaScript does. @module */
import { setImmediate } from 'node:timers/promises'
import type { BrowserLike } from './browser-like.js'

/** Reads the page of a job until the job has ended; resolves the page. */
export async function endedJob(browser: BrowserLike, path: string | null): Promise<string> {
  for (;;) {
    const { status, text } = await browser.get(path ?? '')
    if (status !== 200) throw new Error(`The job's page was answered ${status}.`)
    if (!text.includes('<progress')) return text
    await setImmediate()
  }
}
