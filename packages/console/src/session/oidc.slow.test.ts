/** Signing in at an OpenID provider with Chromium: the way there and back, with its cookies. */
import { createTwin, type Twin } from '@payment-integration/testing/twin'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  chromiumMissing,
  isChromiumMissing,
  launchChromium,
  type ServedPages,
  servePages,
} from '../../test/chromium.js'
import { oidcClient, openOpenidProvider } from '../../test/openid-provider.js'
import { createConsole } from '../create-console.js'

describe.skipIf(isChromiumMissing)(`an operator of the OpenID provider in Chromium${chromiumMissing}`, () => {
  let twin: Twin
  let served: ServedPages
  let provider: Awaited<ReturnType<typeof openOpenidProvider>>
  let browser: Browser

  beforeAll(async () => {
    twin = await createTwin({ seed: 13 })
    served = await servePages(async (loopback) => {
      // By another name than the provider, so that the browser takes them for two sites.
      const publicUrl = loopback.replace('127.0.0.1', 'localhost')
      provider = await openOpenidProvider([`${publicUrl}/console/oidc/callback`])
      const oidc = { issuer: provider.issuer, ...oidcClient, nameClaim: 'email' }
      const signIn = { publicUrl, sourceOf: () => '192.0.2.1', oidc }
      return createConsole({ service: twin.service, now: twin.now, signIn })
    })
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    served?.close()
    provider?.close()
    await twin?.close()
  })

  it.each([true, false])('comes back to the page that it asked for (JavaScript: %s)', async (javaScriptEnabled) => {
    const name = `alice-${javaScriptEnabled}@shop.example`
    await twin.service.operators.createForOidc({ name, role: 'admin' })
    provider.setClaims({ email: name, email_verified: true })
    const context = await browser.newContext({ javaScriptEnabled })
    const page = await context.newPage()
    page.setDefaultTimeout(300_000)
    const origin = served.origin.replace('127.0.0.1', 'localhost')
    await page.goto(`${origin}/console/settings`)
    await page.getByRole('link', { name: `Sign in with ${new URL(provider.issuer).host}` }).click()
    await page.waitForURL(`${origin}/console/settings`)
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    expect(await page.locator('.who span').textContent()).toBe(name)
    const cookies = await context.cookies(origin)
    expect(cookies.filter(({ name }) => name.startsWith('__Host-'))).toMatchObject([
      { name: '__Host-pi_console', httpOnly: true, secure: true, sameSite: 'Strict' },
    ])
    await context.close()
  })
})
