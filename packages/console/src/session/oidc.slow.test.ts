/** Signing in at an OpenID provider with Chromium: the way there and back. */
import type { Twin } from '@payment-integration/testing/twin'
import { afterAll, expect, it } from 'vitest'
import { describeInChromium } from '../../test/browser-suite.js'
import { oidcClient, openOpenidProvider } from '../../test/openid-provider.js'
import { type Console, createConsole } from '../create-console.js'

let provider: Awaited<ReturnType<typeof openOpenidProvider>>
afterAll(() => provider?.close())
// By another name than the provider, so that the browser takes them for two sites.
const getName = (loopback: string) => loopback.replace('127.0.0.1', 'localhost')

async function build({ service, now }: Twin, loopback: string): Promise<Console> {
  const publicUrl = getName(loopback)
  provider = await openOpenidProvider([`${publicUrl}/console/oidc/callback`])
  const oidc = { issuer: provider.issuer, ...oidcClient, nameClaim: 'email' }
  return createConsole({ service, now, signIn: { publicUrl, findSource: () => '192.0.2.1', oidc } })
}

describeInChromium('an operator of the OpenID provider', { seed: 13 }, build, (suite) => {
  it.each([true, false])('comes back to the page that it asked for (JavaScript: %s)', async (javaScriptEnabled) => {
    const name = `alice-${javaScriptEnabled}@shop.example`
    await suite.twin.service.operators.createForOidc({ name, role: 'admin' })
    provider.setClaims({ email: name, email_verified: true })
    const { page } = await suite.open({ javaScriptEnabled })
    const origin = getName(suite.origin)
    await page.goto(`${origin}/console/settings`)
    await page.getByRole('link', { name: `Sign in with ${new URL(provider.issuer).host}` }).click()
    await page.waitForURL(`${origin}/console/settings`)
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    expect(await page.locator('.who span').textContent()).toBe(name)
  })
})
