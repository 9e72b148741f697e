/** Signing in at a real OpenID provider. Source: docs/decisions/operators.md. */
import { ExcessiveJsonError } from '@payment-integration/contract/internal-io'
import { createTwin, type Twin } from '@payment-integration/testing/twin'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { BrowserLike } from '../../test/browser-like.js'
import { oidcClient, openOpenidProvider } from '../../test/openid-provider.js'
import { type Console, createConsole } from '../create-console.js'

const origin = 'https://pay.example'
const alice = { email: 'Alice@shop.example', email_verified: true, preferred_username: 'alice.pay' }
type Provider = Awaited<ReturnType<typeof openOpenidProvider>>

let twin: Twin
let provider: Provider
let pages: Console
let errors: unknown[]
/** Moves the clock of the pages. */
let laterMs = 0

function getPages(at: Pick<Provider, 'issuer'>, nameClaim = 'email'): Console {
  const oidc = { issuer: at.issuer, ...oidcClient, nameClaim }
  const signIn = { publicUrl: origin, findSource: () => '192.0.2.1', oidc }
  const onError = (error: unknown) => void errors.push(error)
  return createConsole({ service: twin.service, clock: { now: () => twin.clock.now() + laterMs }, signIn, onError })
}

beforeAll(async () => {
  twin = await createTwin({ seed: 6 })
  provider = await openOpenidProvider([`${origin}/console/oidc/callback`])
  pages = getPages(provider)
  await twin.service.operators.createForOidc({ name: 'alice@shop.example', role: 'operator' })
})
afterAll(async () => {
  pages?.close()
  provider?.close()
  await twin?.close()
})
beforeEach(() => {
  errors = []
  laterMs = 0
  provider.setClaims(alice)
})

/** A provider of this test alone, with its pages. */
async function openOther(isWithUserInfoAlone = false, nameClaim?: string) {
  const other = await openOpenidProvider([`${origin}/console/oidc/callback`], isWithUserInfoAlone)
  other.setClaims(alice)
  const pages = getPages(other, nameClaim)
  onTestFinished(() => {
    pages.close()
    other.close()
  })
  return { other, browser: new BrowserLike(pages, origin) }
}

/** Begins at the sign-in page and follows the provider. Resolves the path to come back to. */
async function throughProvider(browser: BrowserLike, at = provider, next = '/console/payments'): Promise<string> {
  const { text } = await browser.get(`/console/sign-in?${new URLSearchParams({ next })}`)
  const [, start = ''] = /href="(\/console\/oidc\/start[^"]*)"/.exec(text) ?? []
  const { status, location } = await browser.get(start)
  expect(status).toBe(303)
  return at.pass(location ?? '')
}

async function signIn(browser = new BrowserLike(pages, origin), at = provider, next?: string) {
  return browser.get(await throughProvider(browser, at, next))
}

const audit = async () =>
  (await twin.service.audit.list({ limit: 1_000 })).map(({ actor, action, details }) => ({ actor, action, details }))

describe('an operator of the OpenID provider', () => {
  it('signs in with its verified address, goes on to its page, and is in the audit log', async () => {
    const browser = new BrowserLike(pages, origin)
    const welcome = await signIn(browser, provider, '/console/payments?memo=a')
    expect([welcome.status, welcome.headers.get('refresh')]).toEqual([200, '0; url=/console/payments?memo=a'])
    expect(welcome.text).toContain('<a href="/console/payments?memo=a">Go on as alice@shop.example</a>')
    expect([...browser.cookies.keys()]).toEqual(['__Host-pi_console'])
    const cookie = /^__Host-pi_console=pi_session_[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/
    expect(welcome.headers.getSetCookie()).toContainEqual(expect.stringMatching(cookie))
    const page = await browser.get('/console/payments')
    expect(page.text).toContain('<span title="Role: operator">alice@shop.example</span>')
    const details = { source: '192.0.2.1', issuer: provider.issuer }
    const record = { actor: 'operator:alice@shop.example', action: 'operator.signed_in', details }
    expect(await audit()).toContainEqual(record)
    expect(errors).toEqual([])
  })

  it('is asked for by the code flow with PKCE, state and nonce, in a cookie that no script reads', async () => {
    const browser = new BrowserLike(pages, origin)
    const { location, headers } = await browser.get('/console/oidc/start')
    const { searchParams } = new URL(location ?? '')
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: 'console',
      response_type: 'code',
      redirect_uri: `${origin}/console/oidc/callback`,
      scope: 'openid email',
      state: expect.any(String),
      nonce: expect.any(String),
      code_challenge: expect.any(String),
      code_challenge_method: 'S256',
    })
    const [set = ''] = headers.getSetCookie()
    expect(set).toMatch(/^__Host-pi_console_oidc=[^;]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/)
    for (const secret of [searchParams.get('state'), searchParams.get('nonce')]) expect(set).not.toContain(secret)
  })

  it('has the stored role, and is rejected once it is disabled', async () => {
    const { operators } = twin.service
    await operators.createForOidc({ name: 'carol@shop.example' })
    provider.setClaims({ email: 'carol@shop.example', email_verified: true, role: 'admin' })
    const browser = new BrowserLike(pages, origin)
    await signIn(browser)
    expect((await browser.get('/console')).text).toContain('Role: viewer')
    await operators.setEnabled('carol@shop.example', false)
    expect((await browser.get('/console')).status).toBe(303)
    expect(await signIn()).toMatchObject({ status: 403 })
  })

  it('is found by another claim, which the provider reports at its UserInfo endpoint alone', async () => {
    const { other, browser } = await openOther(true, 'preferred_username')
    await twin.service.operators.createForOidc({ name: 'alice.pay' })
    expect((await signIn(browser, other)).text).toContain('Go on as alice.pay')
  })
})

describe('no session is opened', () => {
  it.each([
    ['an address that is not verified', { ...alice, email_verified: false }, 'has not verified your e-mail address'],
    ['an address without a word about its verification', { email: alice.email }, 'has not verified your e-mail'],
    ['no address', {}, 'sent no claim &quot;email&quot;'],
    ['a name that no operator has', { ...alice, email: 'eve@shop.example' }, 'calls you &quot;eve@shop.example&quot;'],
    ['markup for a name', { ...alice, email: '<b>eve</b>' }, 'calls you &quot;&lt;b&gt;eve&lt;/b&gt;&quot;'],
  ])('for %s', async (_, claims, text) => {
    provider.setClaims(claims)
    const browser = new BrowserLike(pages, origin)
    const answer = await signIn(browser)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain(text)
    expect(answer.text).toContain('Sign in with 127.0.0.1')
    expect([...browser.cookies]).toEqual([])
    expect(errors).toEqual([])
  })

  it('for an operator with a passphrase', async () => {
    await twin.service.operators.create({ name: 'bob@shop.example' })
    provider.setClaims({ email: 'bob@shop.example', email_verified: true })
    expect((await signIn()).status).toBe(403)
    const failed = { actor: 'unauthenticated', action: 'operator.sign_in_failed' }
    expect(await audit()).toContainEqual(expect.objectContaining(failed))
  })

  it('in another browser than the one that began', async () => {
    const path = await throughProvider(new BrowserLike(pages, origin))
    const other = new BrowserLike(pages, origin)
    expect(await other.get(path)).toMatchObject({ status: 400 })
    await other.get('/console/oidc/start')
    expect(await other.get(path)).toMatchObject({ status: 400 })
    expect(other.cookies.has('__Host-pi_console')).toBe(false)
  })

  it('after ten minutes', async () => {
    const browser = new BrowserLike(pages, origin)
    const path = await throughProvider(browser)
    laterMs = 10 * 60_000
    const answer = await browser.get(path)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('took too long')])
  })

  it('with a code that was used, is invented, or rejected', async () => {
    const browser = new BrowserLike(pages, origin)
    const path = await throughProvider(browser)
    const pending = browser.cookies.get('__Host-pi_console_oidc') ?? ''
    expect((await browser.get(path)).status).toBe(200)
    const url = new URL(path, origin)
    const state = url.searchParams.get('state') ?? ''
    const rejected = new URLSearchParams({ state, error: 'access_denied', iss: provider.issuer })
    const invented = new URLSearchParams({ state, code: 'canary-of-a-code', iss: provider.issuer })
    for (const again of [path, `/console/oidc/callback?${invented}`, `/console/oidc/callback?${rejected}`]) {
      const attacker = new BrowserLike(pages, origin)
      attacker.cookies.set('__Host-pi_console_oidc', pending)
      const answer = await attacker.get(again)
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('failed. Begin again')])
      expect([...attacker.cookies]).toEqual([])
    }
    expect(errors).toHaveLength(3)
  })
})

it('leads to no other site afterwards', async () => {
  const welcome = await signIn(undefined, provider, 'https://evil.example/')
  expect(welcome.headers.get('refresh')).toBe('0; url=/console')
})

it('a provider that is down is a page with what to do, and the next sign-in asks it again', async () => {
  const { other, browser } = await openOther()
  other.setDown(true)
  const answer = await browser.get('/console/oidc/start')
  expect([answer.status, answer.text]).toEqual([502, expect.stringContaining('does not answer')])
  expect(errors).toHaveLength(1)
  other.setDown(false)
  expect((await signIn(browser, other)).status).toBe(200)
})

describe('a hostile provider', () => {
  /** A provider of which one answer is replaced by these pieces. */
  async function replacing(path: string, piece: string, isEndless: boolean) {
    const { other, browser } = await openOther()
    let sent = 0
    other.replace((request, response) => {
      if (!request.url?.startsWith(path)) return false
      response.writeHead(200, { 'Content-Type': 'application/json' })
      const more = () => {
        do sent += piece.length
        while (response.write(piece) && isEndless && !response.destroyed)
        if (!isEndless) response.end()
      }
      response.on('drain', more)
      more()
      return true
    })
    return { other, browser, sent: () => sent }
  }
  const nested = '['.repeat(50_000) + ']'.repeat(50_000)

  it.each([
    ['a discovery without end', ' '.repeat(65_536), true],
    ['a discovery of 50,000 levels', nested, false],
  ])('%s is rejected', async (_, piece, isEndless) => {
    const { browser, sent } = await replacing('/.well-known/', piece, isEndless)
    expect((await browser.get('/console/oidc/start')).status).toBe(502)
    expect(errors).toEqual([expect.toSatisfy(isExcessive)])
    // What sockets hold is sent before the connection ends.
    expect(sent()).toBeLessThan(32 * 1024 * 1024)
  })

  it.each([
    ['a token answer without end', '/token', ' '.repeat(65_536), true],
    ['a token answer of 50,000 levels', '/token', nested, false],
    ['a set of keys without end', '/jwks', ' '.repeat(65_536), true],
    ['a set of keys of 50,000 levels', '/jwks', nested, false],
  ])('%s is rejected', async (_, path, piece, isEndless) => {
    const { other, browser } = await replacing(path, piece, isEndless)
    expect((await signIn(browser, other)).status).toBe(400)
    expect(errors).toEqual([expect.toSatisfy(isExcessive)])
  })

  function isExcessive(error: unknown): boolean {
    for (let at = error; at instanceof Error; at = at.cause) if (at instanceof ExcessiveJsonError) return true
    return false
  }
})

it('without a provider the sign-in page has no such link, and its paths lead to the sign-in page', async () => {
  const plain = createConsole({ service: twin.service, signIn: { publicUrl: origin, findSource: () => '192.0.2.1' } })
  const browser = new BrowserLike(plain, origin)
  expect((await browser.get('/console/sign-in')).text).not.toContain('/oidc/')
  expect(await browser.get('/console/oidc/start')).toMatchObject({ status: 303 })
  plain.close()
})
