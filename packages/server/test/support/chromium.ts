/** Starts the Chromium that is installed on this machine. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/** Path of Chromium, or undefined where there is none. */
export const chromiumPath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find(isExecutable)

/** For the title of a test that is skipped without it. */
export const chromiumMissing = chromiumPath === undefined ? ' (skipped: no Chromium; apt-get install chromium)' : ''

/** Starts it without a window. Root may run it only without its sandbox. */
export function launchChromium(): Promise<Browser> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }), args })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
