/** Signing in with Chromium: the one-time link, the back button, and the way to an OpenID provider and back. */
import type { Twin } from '@payment-integration/testing/twin'
import { afterAll, expect, it } from 'vitest'
import { describeInChromium } from '../../test/browser-suite.js'
import { getFlaws, looks } from '../../test/chromium.js'
import { oidcClient, openOpenidProvider } from '../../test/openid-provider.js'
import { type Console, createConsole } from '../create-console.js'

let provider: Awaited<ReturnType<typeof openOpenidProvider>>
afterAll(() => provider?.close())
// By another name than the provider, so that the browser takes them for two sites.
const getName = (loopback: string) => loopback.replace('127.0.0.1', 'localhost')

async function build({ service, clock }: Twin, loopback: string): Promise<Console> {
  const publicUrl = getName(loopback)
  provider = await openOpenidProvider([`${publicUrl}/console/oidc/callback`])
  const oidc = { issuer: provider.issuer, ...oidcClient, nameClaim: 'email' }
  return createConsole({ service, clock, signIn: { publicUrl, findSource: () => '192.0.2.1', oidc } })
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

const buildPlain = async ({ service, clock }: Twin, publicUrl: string) =>
  createConsole({ service, clock, signIn: { publicUrl, findSource: () => '192.0.2.1' } })

describeInChromium('an operator', { seed: 12 }, buildPlain, (suite) => {
  it('joins by a link whose token leaves the address, signs in to pages without a flaw, and finds none behind the back button', async () => {
    const { linkToken } = await suite.twin.service.operators.create({ name: 'alice', role: 'admin' })
    const { page } = await suite.open()
    await page.goto(`${suite.origin}/console/join#${linkToken}`)
    await page.waitForURL(`${suite.origin}/console/join`)
    expect(await page.inputValue('#link')).toBe(linkToken)
    await page.fill('#passphrase', 'correct horse battery')
    await page.fill('#again', 'correct horse battery')
    await page.click('button:has-text("Set the passphrase")')
    await page.getByText('Your passphrase is set.').waitFor()
    await page.fill('#name', 'alice')
    await page.fill('#passphrase', 'correct horse battery')
    await page.click('main button')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    for (const { width, colorScheme } of looks) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await page.goto(`${suite.origin}/console/operators`)
      expect(await getFlaws(page, `${width}-${colorScheme}-operators`)).toEqual([])
      await page.locator('input[name=name]:not([type=hidden])').fill(`new-${width}`)
      await page.getByRole('button', { name: 'Create the operator' }).click()
      await page.getByText('This page shows it once.').waitFor()
      expect(await getFlaws(page, `${width}-${colorScheme}-link-once`)).toEqual([])
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(`${suite.origin}/console/settings`)
    await page.click('text=Sign out')
    await page.getByText('You are signed out.').waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.locator('nav').count()).toBe(0)
  })
})
