/** Signing in to the portal, as a browser does it. Source: docs/decisions/operators.md. */
import type { TwinIntegration } from '@payment-integration/testing/twin'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BrowserLike } from '../../test/browser-like.js'
import { openPortal, type PortalSetup, portalOrigin } from '../../test/portal-setup.js'
import { createPortal } from './create-portal.js'
import { findSocketSource } from './sign-in.js'

let setup: PortalSetup
let shop: TwinIntegration
const browser = () => setup.browser()

beforeAll(async () => {
  setup = await openPortal(31)
  shop = await setup.twin.addIntegration(() => new Response(null, { status: 204 }))
})
afterAll(() => setup?.twin.close())

describe('without a session', () => {
  it('a page leads to the sign-in page, and from there back to itself', async () => {
    const { status, location } = await browser().get('/portal/payments?wallet=x')
    expect([status, location]).toEqual([303, '/portal/sign-in?next=%2Fportal%2Fpayments%3Fwallet%3Dx'])
    const { text } = await browser().get(location ?? '')
    expect(text).toContain('value="/portal/payments?wallet=x"')
    expect(text).not.toContain('<nav')
    const fields = { address: shop.address, secret: shop.apiSecret, next: '/portal/payments?wallet=x' }
    expect((await browser().post('/portal/sign-in', fields)).location).toBe('/portal/payments?wallet=x')
  })

  it('an act does nothing', async () => {
    expect((await browser().post('/portal/act/url', { url: '' })).status).toBe(401)
    expect((await setup.twin.service.integrations.get(shop.address)).notificationUrl).toBe(shop.notificationUrl)
  })

  it('another host and another origin are answered 403', async () => {
    const elsewhere = new BrowserLike(setup.portal, 'https://evil.example')
    expect((await elsewhere.get('/portal/sign-in')).status).toBe(403)
    const fields = { address: shop.address, secret: shop.apiSecret }
    for (const Origin of ['https://evil.example', 'null', null])
      expect((await browser().post('/portal/sign-in', fields, { Origin })).status).toBe(403)
  })

  it('too many failures of a source are answered 429 with the wait, and lock out no other source', async () => {
    const from = (source: string, secret: string) =>
      browser().post('/portal/sign-in', { address: shop.address, secret }, { 'x-source': source })
    for (let n = 0; n < 5; n += 1) {
      const { status, headers } = await from('stranger', 'wrong')
      expect([status, headers.getSetCookie()]).toEqual([401, []])
    }
    const { status, headers } = await from('stranger', shop.apiSecret)
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await from('owner', shop.apiSecret)).status).toBe(303)
  })

  it('without a public URL this machine alone is answered', async () => {
    const portal = createPortal({ service: setup.twin.service })
    expect((await new BrowserLike(portal, portalOrigin).get('/portal/sign-in')).status).toBe(403)
    expect((await new BrowserLike(portal, 'http://127.0.0.1:4747').get('/portal/sign-in')).status).toBe(200)
  })
})

describe('a session', () => {
  it('is in a cookie that scripts and other sites do not get, for twelve hours, and which signing out ends', async () => {
    const shopBrowser = browser()
    const { headers } = await shopBrowser.post('/portal/sign-in', { address: shop.address, secret: shop.apiSecret })
    const cookie = /^__Host-pi_portal=pi_portal_[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(cookie)])
    await shopBrowser.post('/portal/sign-out', { csrf: 'another' })
    expect((await shopBrowser.get('/portal')).status).toBe(200)
    expect((await shopBrowser.post('/portal/sign-out', { csrf: await shopBrowser.csrf('/portal') })).status).toBe(303)
    expect([shopBrowser.cookies.size, (await shopBrowser.get('/portal')).status]).toEqual([0, 303])
  })

  it("of an operator's cookie is none here, and this one is none there", async () => {
    const shopBrowser = await setup.signIn(shop)
    const [[, token] = ['', '']] = shopBrowser.cookies
    expect(await setup.twin.service.operatorSessions.authenticate(token)).toBeNull()
    const { linkToken } = await setup.twin.service.operators.create({ name: 'olga', role: 'admin' })
    const passphrase = 'correct horse battery'
    await setup.twin.service.operatorSessions.redeemLink({ linkToken, passphrase })
    const opened = await setup.twin.service.operatorSessions.signIn({ name: 'olga', passphrase, source: 's' })
    const wrong = browser()
    wrong.cookies.set('__Host-pi_portal', opened.sessionToken)
    expect((await wrong.get('/portal')).status).toBe(303)
  })
})

it('every page has headers that forbid frames, scripts of other hosts, and a copy in a cache', async () => {
  const shopBrowser = await setup.signIn(shop)
  for (const path of ['', '/payments', '/deliveries', '/endpoint', '/secrets', '/sign-in', '/nothing']) {
    const { headers } = await shopBrowser.get(`/portal${path}`)
    expect(headers.get('content-security-policy'), path).toContain("frame-ancestors 'none'")
    expect(headers.get('content-security-policy'), path).not.toContain('unsafe')
    expect([headers.get('x-frame-options'), headers.get('cache-control')], path).toEqual(['DENY', 'no-store'])
  }
})

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::5:6:7:8', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  [undefined, 'unknown'],
])('the source of %s is %s', (remoteAddress, source) => {
  const request = new Request('http://127.0.0.1/portal')
  expect(findSocketSource(request, { incoming: { socket: { remoteAddress } } })).toBe(source)
})
