/** Signing in and acting, as a browser does it. Source: docs/decisions/operators.md. */
import { createTwin, type Twin } from '@payment-integration/testing/twin'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BrowserLike } from '../../test/browser-like.js'
import { type Console, createConsole } from '../create-console.js'

const origin = 'https://pay.example'
const passphrase = 'correct horse battery'
let twin: Twin
let pages: Console
let deliveryId: string
let payment: string
let sources = 0

const browser = () => new BrowserLike(pages, origin)

async function join(name: string, role: 'viewer' | 'operator' | 'admin'): Promise<void> {
  const { linkToken } = await twin.service.operators.create({ name, role })
  await twin.service.operatorSessions.redeemLink({ linkToken, passphrase })
}

async function signIn(name: string, into = browser()): Promise<BrowserLike> {
  const { status } = await into.post('/console/sign-in', { name, passphrase })
  expect(status).toBe(303)
  return into
}

beforeAll(async () => {
  twin = await createTwin({ seed: 5 })
  const shop = await twin.addIntegration(() => new Response(null, { status: 204 }))
  const paid = await twin.pay({ integrationAddress: shop.address })
  payment = `/console/payments/${paid.chainId}/${paid.txHash}`
  deliveryId = (await twin.service.deliveries.list({ limit: 1 }))[0]?.deliveryId ?? ''
  // A source of its own for each request: the limits are tested in the core.
  const findSource = () => `192.0.2.${sources++ % 200}`
  pages = createConsole({ service: twin.service, now: twin.now, signIn: { publicUrl: origin, findSource } })
  await join('vera', 'viewer')
  await join('olga', 'operator')
})
afterAll(async () => {
  pages?.close()
  await twin?.close()
})

describe('without a session', () => {
  it('a page leads to the sign-in page, and from there back to itself', async () => {
    const alice = browser()
    const { status, location } = await alice.get('/console/payments?state=success')
    expect([status, location]).toEqual([303, '/console/sign-in?next=%2Fconsole%2Fpayments%3Fstate%3Dsuccess'])
    const { text } = await alice.get(location ?? '')
    expect(text).toContain('value="/console/payments?state=success"')
    expect(text).not.toContain('<nav')
    const back = await alice.post('/console/sign-in', {
      name: 'vera',
      passphrase,
      next: '/console/payments?state=success',
    })
    expect(back.location).toBe('/console/payments?state=success')
  })

  it('a stream is answered 401, and an act does nothing', async () => {
    expect((await browser().get('/console/live?topic=overview')).status).toBe(401)
    expect((await browser().post('/console/act/replay', { id: deliveryId })).status).toBe(401)
  })

  it('a sign-in leads to no other site', async () => {
    const answer = await browser().post('/console/sign-in', {
      name: 'vera',
      passphrase,
      next: '//evil.example/console',
    })
    expect(answer.location).toBe('/console')
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
    await join('locked', 'viewer')
    for (let n = 0; n < 5; n++) await browser().post('/console/sign-in', { name: 'locked', passphrase: 'wrong' })
    const { status, headers } = await browser().post('/console/sign-in', { name: 'locked', passphrase })
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true])
  })

  it('another host and another origin are answered 403', async () => {
    expect((await new BrowserLike(pages, 'https://evil.example').get('/console/sign-in')).status).toBe(403)
    for (const Origin of ['https://evil.example', 'null', null])
      expect((await browser().post('/console/sign-in', { name: 'vera', passphrase }, { Origin })).status).toBe(403)
  })
})

describe('a one-time link', () => {
  it('sets a passphrase once, then the person signs in', async () => {
    const { linkToken: link } = await twin.service.operators.create({ name: 'nina' })
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
})

describe('a session', () => {
  it('is in a cookie that scripts, other hosts and other sites do not get, for twelve hours', async () => {
    const answer = await browser().post('/console/sign-in', { name: 'vera', passphrase })
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-pi_console=pi_session_[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/,
      ),
    ])
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
  it('is done for a role that may act, once, and is recorded in its name', async () => {
    const olga = await signIn('olga')
    const csrf = await olga.csrf(payment)
    const { status, location } = await olga.post('/console/act/replay', { csrf, id: deliveryId })
    expect([status, location]).toEqual([303, `${payment}?note=replayed`])
    expect((await olga.get(location ?? '')).text).toContain('The delivery is due now.')
    const [record] = await twin.service.store.console.audit({ limit: 1 })
    expect(record).toMatchObject({ actor: 'operator:olga', action: 'deliveries.replayed' })
  })

  it("is not done with another session's CSRF token, with none, or from another site", async () => {
    const [olga, other] = [await signIn('olga'), await signIn('olga')]
    const csrf = await other.csrf(payment)
    const records = async () => (await twin.service.store.console.audit({ limit: 1 }))[0]?.seq
    const before = await records()
    const id = deliveryId
    expect((await olga.post('/console/act/replay', { csrf, id })).status).toBe(403)
    expect((await olga.post('/console/act/replay', { id })).status).toBe(403)
    const own = await olga.csrf(payment)
    for (const Origin of ['https://evil.example', 'null', null])
      expect((await olga.post('/console/act/replay', { csrf: own, id }, { Origin })).status).toBe(403)
    expect(await records()).toBe(before)
  })

  it('that cannot be done says why; an unknown one is not found', async () => {
    const olga = await signIn('olga')
    const csrf = await olga.csrf(payment)
    const missing = await olga.post('/console/act/replay', { csrf, id: '999999' })
    expect([missing.status, missing.text.includes('999999')]).toEqual([409, true])
    expect((await olga.post('/console/act/constructor', { csrf })).status).toBe(404)
  })
})
