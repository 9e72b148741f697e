/** Signing in and acting, as a browser does it. Source: docs/decisions/operators.md. */
import { describe, expect, it } from 'vitest'
import { passphrase, setUpAdmin } from '../../test/admin-setup.js'
import { BrowserLike } from '../../test/browser-like.js'

let deliveryId: string
let payment: string

const browser = () => setup.browser()

async function signIn(name: string, into = browser()): Promise<BrowserLike> {
  const { status } = await into.post('/console/sign-in', { name, passphrase })
  expect(status).toBe(303)
  return into
}

const setup = setUpAdmin(5, async (own) => {
  const { twin } = own
  const shop = await twin.addIntegration(() => new Response(null, { status: 204 }))
  const paid = await twin.pay({ integrationAddress: shop.address })
  payment = `/console/payments/${paid.chainId}/${paid.txHash}`
  deliveryId = (await twin.service.deliveries.list({ limit: 1 }))[0]?.deliveryId ?? ''
  await own.join('vera', 'viewer')
  await own.join('olga', 'operator')
})

describe('without a session', () => {
  it('a page leads to the sign-in page, and from there back to itself', async () => {
    const alice = browser()
    const { status, location } = await alice.get('/console/payments?state=success')
    expect([status, location]).toEqual([303, '/console/sign-in?next=%2Fconsole%2Fpayments%3Fstate%3Dsuccess'])
    const { text, headers } = await alice.get(location ?? '')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(text).toContain('value="/console/payments?state=success"')
    expect(text).not.toContain('<nav')
    const next = '/console/payments?state=success'
    expect((await alice.post('/console/sign-in', { name: 'vera', passphrase, next })).location).toBe(next)
  })

  it('a stream is answered 401, and an act does nothing', async () => {
    expect((await browser().get('/console/live?topic=overview')).status).toBe(401)
    expect((await browser().post('/console/act/replay', { id: deliveryId })).status).toBe(401)
  })

  it('a sign-in leads to no other site', async () => {
    const fields = { name: 'vera', passphrase, next: '//evil.example/console' }
    expect((await browser().post('/console/sign-in', fields)).location).toBe('/console')
  })

  it('a wrong passphrase and an unknown name have the same answer, and no cookie', async () => {
    const [wrong, unknown] = [
      await browser().post('/console/sign-in', { name: 'vera', passphrase: 'wrong passphrase' }),
      await browser().post('/console/sign-in', { name: 'nobody', passphrase }),
    ]
    expect([wrong.status, unknown.status]).toEqual([401, 401])
    expect(wrong.text).toBe(unknown.text)
    expect(wrong.text).toContain('Name or passphrase is wrong.')
    expect(wrong.headers.getSetCookie()).toEqual([])
  })

  it('too many failures of a name are answered 429 with the wait', async () => {
    await setup.join('locked', 'viewer')
    for (let n = 0; n < 5; n++) await browser().post('/console/sign-in', { name: 'locked', passphrase: 'wrong' })
    const { status, headers } = await browser().post('/console/sign-in', { name: 'locked', passphrase })
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true])
  })

  it('another host and another origin are answered 403', async () => {
    expect((await new BrowserLike(setup.pages, 'https://evil.example').get('/console/sign-in')).status).toBe(403)
    for (const Origin of ['https://evil.example', 'null', null])
      expect((await browser().post('/console/sign-in', { name: 'vera', passphrase }, { Origin })).status).toBe(403)
  })
})

it('a one-time link sets a passphrase once, then the person signs in', async () => {
  const { linkToken: link } = await setup.twin.service.operators.create({ name: 'nina' })
  const nina = browser()
  expect((await nina.get('/console/join')).status).toBe(200)
  const fields = { link, passphrase, again: passphrase }
  expect((await nina.post('/console/join', { ...fields, again: 'another one' })).status).toBe(400)
  expect((await nina.post('/console/join', { ...fields, passphrase: 'short', again: 'short' })).status).toBe(400)
  expect((await nina.post('/console/join', fields)).location).toBe('/console/sign-in?note=joined')
  expect((await nina.post('/console/join', fields)).text).toContain('This one-time link is used or expired')
  await signIn('nina', nina)
  expect((await nina.get('/console')).text).toContain('nina')
})

describe('a session', () => {
  it('is in a cookie that scripts, other hosts and other sites do not get, for twelve hours', async () => {
    const answer = await browser().post('/console/sign-in', { name: 'vera', passphrase })
    const cookie = /^__Host-pi_console=pi_session_[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(cookie)])
  })

  it('is a new one at each sign-in: a session that somebody planted is not adopted', async () => {
    const victim = browser()
    const planted = (await signIn('olga')).cookies.get('__Host-pi_console') ?? ''
    victim.cookies.set('__Host-pi_console', planted)
    await signIn('vera', victim)
    expect(victim.cookies.get('__Host-pi_console')).not.toBe(planted)
    expect((await victim.get('/console')).text).toContain('vera')
  })

  it('ends by signing out, also for a copy of its cookie, and the browser forgets its pages', async () => {
    const vera = await signIn('vera')
    const copy = new Map(vera.cookies)
    const csrf = await vera.csrf('/console')
    expect((await vera.get('/console')).headers.get('cache-control')).toBe('no-store')
    const out = await vera.post('/console/sign-out', { csrf })
    expect([out.location, out.headers.get('clear-site-data')]).toEqual(['/console/sign-in?note=signed-out', '"cache"'])
    expect(vera.cookies.size).toBe(0)
    const thief = browser()
    for (const [name, value] of copy) thief.cookies.set(name, value)
    expect((await thief.get('/console')).status).toBe(303)
  })

  it('does not end without its CSRF token', async () => {
    const vera = await signIn('vera')
    await vera.post('/console/sign-out', { csrf: 'another' })
    expect((await vera.get('/console')).status).toBe(200)
  })
})

describe('an act', () => {
  it("is not done with another session's CSRF token, with none, or from another site", async () => {
    const [olga, other] = [await signIn('olga'), await signIn('olga')]
    const csrf = await other.csrf(payment)
    const before = await setup.audit(1)
    const id = deliveryId
    for (const given of [{ csrf }, {}])
      expect((await olga.post('/console/act/replay', { ...given, id })).status).toBe(403)
    const token = await olga.csrf(payment)
    for (const Origin of ['https://evil.example', 'null', null])
      expect((await olga.post('/console/act/replay', { csrf: token, id }, { Origin })).status).toBe(403)
    expect(await setup.audit(1)).toEqual(before)
  })

  it('that cannot be done says why; an unknown one is not found', async () => {
    const olga = await signIn('olga')
    const csrf = await olga.csrf(payment)
    const missing = await olga.post('/console/act/replay', { csrf, id: '999999' })
    expect([missing.status, missing.text.includes('999999')]).toEqual([409, true])
    expect((await olga.post('/console/act/constructor', { csrf })).status).toBe(404)
  })
})
