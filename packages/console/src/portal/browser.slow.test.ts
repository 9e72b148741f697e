/** An integrator's way through the portal in Chromium: with and without JavaScript, no axe violation on any page. */
import type { Twin, TwinIntegration } from '@payment-integration/testing/twin'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInChromium } from '../../test/browser-suite.js'
import { getFlaws, looks } from '../../test/chromium.js'
import { createPortal, type Portal } from './create-portal.js'

let shop: TwinIntegration
let fresh: TwinIntegration
let payment: string
let fails = true

async function build(twin: Twin): Promise<Portal> {
  shop = await twin.addIntegration(() => new Response(fails ? 'Oops' : null, { status: fails ? 500 : 204 }))
  fresh = await twin.addIntegration()
  for (let n = 0; n < 6; n += 1) {
    const paid = await twin.pay({ integrationAddress: shop.address, memo: `order-${n}` })
    fails = n % 2 === 1
    await twin.update(paid, { state: n === 3 ? 'failure' : 'success' })
    payment = `/payments/${paid.chainId}/${paid.txHash}`
  }
  const broken = { title: '<script>alert(1)</script>\u202e'.repeat(40), subtitle: null }
  const [, , chainId = '', txHash = ''] = payment.split('/')
  await twin.update({ chainId, txHash }, { recipient: broken })
  return createPortal({ service: twin.service, clock: twin.clock })
}

describeInChromium('the portal', { seed: 12, startMs: Date.now() - 60_000 }, build, (suite) => {
  // Chromium takes a Secure cookie over http from this name.
  const getOrigin = () => suite.origin.replace('127.0.0.1', 'localhost')
  const getUrl = (path: string) => `${getOrigin()}/portal${path}`
  const open = (options: BrowserContextOptions) => suite.open(options, getOrigin())

  async function signIn(page: Page, { address, apiSecret }: Pick<TwinIntegration, 'address' | 'apiSecret'>) {
    await page.goto(getUrl(''))
    await page.getByLabel('Integration address').fill(address)
    await page.getByLabel('API secret').fill(apiSecret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  }

  for (const { width, colorScheme } of looks)
    it(`at ${width} px, ${colorScheme}: no error, no foreign request, no overflow, and axe finds nothing`, async () => {
      const { page, complaints } = await open({ viewport: { width, height: 900 }, colorScheme })
      await page.goto(getUrl(''))
      expect(await getFlaws(page, `portal-${width}-${colorScheme}-sign-in`)).toEqual([])
      for (const [who, integration] of Object.entries({ shop, fresh })) {
        await page.context().clearCookies()
        await signIn(page, integration)
        const ofShop = [`${payment}?a=1&b=2`, '/payments?wallet=x', '/deliveries/replay?id=1']
        const morePaths = who === 'shop' ? ofShop : ['/nothing']
        for (const path of ['', '/payments', '/deliveries', '/endpoint', '/secrets', ...morePaths]) {
          await page.goto(getUrl(path), { waitUntil: 'load' })
          expect(await getFlaws(page, `portal-${width}-${colorScheme}-${who}${path}`)).toEqual([])
        }
      }
      expect(complaints.filter((text) => !/40[04]/.test(text))).toEqual([])
    })

  it('without JavaScript an integrator tests the endpoint, replays, and rotates both secrets', async () => {
    fails = false
    const { page } = await open({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } })
    await signIn(page, shop)
    await page.goto(getUrl(payment))
    await page.getByRole('link', { name: 'Replay…' }).first().click()
    await page.getByRole('button', { name: 'Replay 1 delivery' }).click()
    await page.getByText('The delivery is due now.').waitFor()

    await page.getByRole('link', { name: 'Endpoint', exact: true }).first().click()
    await page.getByRole('button', { name: 'Send a test delivery' }).click()
    await page.getByText('The receiver accepted it').waitFor()

    await page.getByRole('link', { name: 'Secrets' }).click()
    await page.getByRole('button', { name: 'Prepare a new signing secret' }).click()
    expect(await page.locator('pre').first().textContent()).toMatch(/^pi_whsec_[\w-]{43}$/)
    await page.getByRole('link', { name: 'Secrets' }).first().click()
    await page.getByLabel('Keep the previous secret valid').last().fill('168')
    await page.getByRole('button', { name: 'Activate the new signing secret' }).click()
    await page.getByText('Deliveries are signed with the new secret from now on.').waitFor()

    await page.getByRole('button', { name: 'Make a new API secret' }).click()
    const apiSecret = (await page.locator('pre').first().textContent()) ?? ''
    expect(apiSecret).toMatch(/^pi_api_[\w-]{43}$/)
    await page.reload()
    await page.getByText('is still valid; end it before you rotate again').waitFor()
    expect(await page.content()).not.toMatch(/pi_api_[\w-]{43}/)
    await page.goto(getUrl('/secrets'))
    await page.getByLabel('Every server has the new one').check()
    await page.getByRole('button', { name: 'End the old API secret' }).click()
    // The session was opened with the previous secret.
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signIn(page, { address: shop.address, apiSecret })
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.content()).not.toContain(shop.address)
  })
})
