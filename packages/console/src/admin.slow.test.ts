/** An admin signs in and acts in Chromium, with and without JavaScript: no axe violation, no overflow. */
import type { Twin } from '@payment-integration/testing/twin'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInChromium } from '../test/browser-suite.js'
import { getFlaws, looks, type openPage } from '../test/chromium.js'
import { type Console, createConsole } from './create-console.js'

const passphrase = 'correct horse battery'
const address = `0x${'ab'.repeat(20)}`

let query = ''

async function build(twin: Twin, publicUrl: string): Promise<Console> {
  const { accounts, operators, operatorSessions, legacyKeys } = twin.service
  const shop = await twin.addIntegration()
  await accounts.create({
    ...{ handle: 'shop', address: `0x${'c3'.repeat(20)}` },
    config: { coins: [{ chainId: 137, tokens: [{ symbol: 'USDC' }] }] },
  })
  await legacyKeys.create({ name: '<b>till' })
  await stuckVerifications(twin, shop.address)
  const paid = await twin.pay({ chainId: 137, integrationAddress: shop.address })
  query = `?chain=137&hash=${paid.txHash}&amount=1&currency=USD&payee=shop`
  for (const [name, role] of [
    ['ada', 'admin'],
    ['olga', 'operator'],
  ] as const) {
    const { linkToken } = await operators.create({ name, role })
    await operatorSessions.redeemLink({ linkToken, passphrase })
  }
  let sources = 0
  const findSource = () => `192.0.2.${sources++ % 200}`
  return createConsole({ service: twin.service, now: twin.now, signIn: { publicUrl, findSource } })
}

describeInChromium('an admin', { seed: 31, startMs: Date.now() - 60_000 }, build, (suite) => {
  const paths = () => [
    ...['/identity', '/legacy', `/legacy${query}`, '/integrations', `/integrations/${address}`],
    ...['/accounts', '/accounts/shop', '/keys', '/operators', '/audit'],
  ]

  async function signIn(options: Parameters<typeof openPage>[2]): Promise<Page> {
    const { page } = await suite.open(options)
    await page.goto(`${suite.origin}/console`)
    await page.locator('#name').fill('ada')
    await page.locator('#passphrase').fill(passphrase)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    return page
  }

  it('without JavaScript an integration is created, and its secrets are shown once', async () => {
    const page = await signIn({ javaScriptEnabled: false })
    await page.goto(`${suite.origin}/console/integrations`)
    await page.locator('input[name=address]').fill(address)
    await page.getByRole('button', { name: 'Create the integration' }).click()
    const secrets = await page.locator('.copy pre').allTextContents()
    expect(secrets).toHaveLength(2)
    await page.getByRole('link', { name: 'Continue' }).click()
    for (const secret of secrets) expect(await page.content()).not.toContain(secret)
    await page.getByLabel('Its requests are answered 401').check()
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('The integration is disabled').waitFor()
    await page.context().close()
  })

  for (const { width, colorScheme } of looks)
    it(`at ${width} px, ${colorScheme}: no page overflows, and axe finds nothing`, async () => {
      const page = await signIn({ viewport: { width, height: 900 }, colorScheme })
      for (const path of paths()) {
        await page.goto(`${suite.origin}/console${path}`, { waitUntil: 'load' })
        expect(await getFlaws(page, `${width}-${colorScheme}${path}`)).toEqual([])
      }
      await page.goto(`${suite.origin}/console/operators`)
      await page.locator('input[name=name]:not([type=hidden])').fill(`new-${width}-${colorScheme}`)
      await page.getByRole('button', { name: 'Create the operator' }).click()
      await page.getByText('This page shows it once.').waitFor()
      expect(await getFlaws(page, `${width}-${colorScheme}-link-once`)).toEqual([])
      await page.context().close()
    })
})

/** Makes a verification on hold, and a redemption with an unknown outcome whose lease is over. */
async function stuckVerifications(twin: Twin, integrationAddress: string): Promise<void> {
  const { provider, shareToken, setActive } = twin.identity
  const share = (email: string, token: string) =>
    twin.service.identity?.share({ integrationAddress, email, shareToken: token })
  const held = shareToken()
  await share('ada@example.com', held)
  await twin.advance(0)
  await setActive(held, false)
  provider.setWebhooks('PaymentService', [])
  provider.fail({ on: 'reuse', at: 'after', answer: 'lost' })
  for (let n = 0; n < 400; n += 1) provider.fail({ on: 'find', at: 'before', answer: 'lost' })
  await share('grace@example.com', shareToken())?.catch(() => undefined)
  await twin.advance(3 * 3_600_000)
}
