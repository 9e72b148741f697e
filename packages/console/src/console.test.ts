/** The pages, as a browser without JavaScript gets them. */
import { gzipSync } from 'node:zlib'
import type { TwinIntegration } from '@payment-integration/testing/twin'
import { describe, expect, it } from 'vitest'
import { localOrigin as host, setUpConsole } from '../test/console-setup.js'
import { loadAssets } from './assets.js'
import { createConsole } from './create-console.js'

const hostile = '<script>alert(1)</script>\u202eevil\u0007'
const long = 'x'.repeat(65_536)
const settings = [
  { name: 'PI_MASTER_KEY', section: 'Basic', value: hostile, isDefault: false, defaultValue: 'on', doc: 'Keep it.' },
  { name: 'PI_PORT', section: 'Basic', value: '4747', isDefault: true, doc: 'Port to listen on.' },
]
let shop: TwinIntegration
let paid: { readonly chainId: string; readonly txHash: string }

const setup = setUpConsole(
  3,
  async (twin) => {
    shop = await twin.addIntegration(() => new Response(`${hostile}${long}`, { status: 500 }))
    paid = await twin.pay({ chainId: 137, integrationAddress: shop.address, memo: '<b>\u202ememo' })
    const invoice = { amount: '25.00', currency: 'EUR', settlementAmount: '27', settlementCurrency: 'USD' }
    await twin.update(paid, { state: 'success', recipient: { title: hostile, subtitle: long }, invoice })
    await twin.update(paid, { state: 'pending' })
    await twin.service.integrations.setEnabled(shop.address, false)
    await twin.service.integrations.setEnabled(shop.address, true)
  },
  { settings },
)

async function get(path: string): Promise<{ status: number; text: string; headers: Headers }> {
  const answer = await setup.pages.fetch(new Request(`${host}/console${path}`))
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}

const paths = () => [
  ...['', '/payments', '/deliveries', '/endpoints', '/chains', '/integrations', `/integrations/${shop.address}`],
  ...['/accounts', '/keys', '/identity', '/legacy', '/audit', '/settings'],
  `/legacy?chain=${paid.chainId}&hash=${paid.txHash}&amount=1&currency=USD&payee=shop`,
  `/payments/${paid.chainId}/${paid.txHash}`,
]

describe('every page', () => {
  it('is complete without JavaScript, under the strict policy, and is never cached', async () => {
    for (const path of paths()) {
      const { status, text, headers } = await get(path)
      expect(status, path).toBe(200)
      expect(text, path).toMatch(/^<!doctype html><html lang="en">[\s\S]*<h1>[\s\S]*<\/html>$/)
      expect(Object.fromEntries(headers), path).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      })
    }
  })

  it('has no inline script or style and no secret, and loads from its own server alone', async () => {
    for (const path of paths()) {
      const { text } = await get(path)
      for (const secret of [shop.apiSecret, shop.signingSecret]) expect(text, path).not.toContain(secret)
      expect(text, path).not.toMatch(/\son[a-z]+=|\sstyle=|<style|<script>|javascript:/)
      for (const [, address] of text.matchAll(/(?:src|href|action)="([^"]*)"/g))
        expect(address, path).toMatch(/^(\/console|#|data:,$)/)
    }
  })

  it('shows hostile text as text: no markup, visible escapes, cut with a mark', async () => {
    for (const path of paths()) {
      const { text } = await get(path)
      expect(text, path).not.toContain('<script>alert')
      expect(text, path).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
      expect(text, path).not.toContain('\u0007')
      expect(text, path).not.toContain('x'.repeat(5_000))
    }
    const { text } = await get(`/payments/${paid.chainId}/${paid.txHash}`)
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}evil\\u{7}')
    expect(text).toContain('&lt;b&gt;\\u{202e}memo')
    expect(text).toMatch(/x… \[[\d,]+ more characters\]/)
  })

  it('of settings keeps the default of a set variable in sight', async () => {
    const { text } = await get('/settings')
    expect(text).toMatch(/<span class="given">.*?<small>Keep it\. By default on\.<\/small>/)
  })
})

it('a connection from another machine that sends a loopback Host is rejected', async () => {
  const from = (remoteAddress: string) =>
    setup.pages.fetch(new Request(`${host}/console`), { incoming: { socket: { remoteAddress } } })
  expect((await from('192.0.2.7')).status).toBe(403)
  expect((await from('::ffff:127.0.0.1')).status).toBe(200)
})

describe('a host with its own sign-in', () => {
  const publicUrl = 'https://pay.example'
  const findViewer = ({ headers }: Request) =>
    headers.get('x-user') === 'ada' ? ({ name: 'ada', role: 'viewer' } as const) : null
  const ask = (url: string, init?: RequestInit) =>
    createConsole({ service: setup.twin.service, findViewer, publicUrl }).fetch(new Request(`${url}/console`, init))
  const ada = { headers: { 'x-user': 'ada' } }

  it('serves the people it knows at its public address, and nobody else', async () => {
    const page = await ask(publicUrl, ada)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('ada')
    expect((await ask(publicUrl)).status).toBe(403)
    expect((await ask(host, ada)).status).toBe(403)
    expect((await ask(publicUrl, { ...ada, method: 'POST' })).status).toBe(403)
  })

  it('must say who looks at the pages before they get a public address', () => {
    expect(() => createConsole({ service: setup.twin.service, publicUrl })).toThrow(TypeError)
  })
})

describe('lists', () => {
  const getRows = (text: string) => text.match(/data-key=/g)?.length ?? 0

  it.each([
    ['', 1],
    ['?state=success', 1],
    ['?state=failure', 0],
    ['?chain=137', 1],
    ['?chain=1', 0],
    ['?since=2020-01-01T00:00', 1],
    ['?until=2020-01-01T00:00', 0],
    ['?integration=none', 0],
    ['?q=25.00+EUR', 1],
    ['?q=25.00+USD', 0],
    ['?q=%3Cb', 1],
    ['?q=order', 0],
  ])('payments%s are %i', async (query, count) => {
    expect(getRows((await get(`/payments${query}`)).text)).toBe(count)
  })

  it.each([
    ['since=2026-01-31T12:30%2B02:00', '<input name="since" type="datetime-local" value="2026-01-31T10:30"'],
    ['until=2026-01-31', '<input name="until" type="datetime-local" value="2026-01-31T00:00"'],
    ['since=1769862600000', '<input name="since" type="datetime-local" value="2026-01-31T12:30"'],
    ['chain=8453', '<option value="8453" selected=""'],
    [`integration=0x${'AB'.repeat(20)}`, `<option value="0x${'ab'.repeat(20)}" selected=""`],
  ])('the form of a list shows the filter of its link: %s', async (query, shown) => {
    for (const list of ['payments', 'deliveries']) expect((await get(`/${list}?${query}`)).text).toContain(shown)
  })

  it('every page has the search box: a hash and a whole memo lead to the payment, a wallet to its payments', async () => {
    for (const path of paths())
      expect((await get(path)).text).toMatch(/<search[^>]*><form method="get" action="\/console\/payments"/)
    const [payment] = await setup.twin.service.store.console.search({ kind: 'hash', txHash: paid.txHash }, 1)
    for (const q of [paid.txHash, paid.txHash.toUpperCase().replace('0X', '0x'), '%3Cb%3E%E2%80%AEmemo']) {
      const { status, headers } = await get(`/payments?q=${q}`)
      expect([status, headers.get('location')]).toEqual([303, `/console/payments/137/${paid.txHash}`])
    }
    for (const q of [payment?.sender, payment?.receiver]) expect(getRows((await get(`/payments?q=${q}`)).text)).toBe(1)
  })

  it('the last answer of a delivery leads to its attempt, with the reason and the answer unfolded', async () => {
    const { text } = await get('/deliveries')
    const [, path = '', id] = /href="\/console(\/payments[^"#]+)#(d\d+-1)"><span class="answer bad">/.exec(text) ?? []
    const [attempt = ''] = (await get(path)).text.split(`id="${id}"`)[1]?.split('</li>') ?? []
    expect(attempt).toMatch(/The receiver failed with 500[\s\S]*<details open=""><summary>Start of the answer/)
  })

  it.each([
    ...['?state=x', '?chain=x', '?since=x', '?integration=0x', '?before=x', '?before=1.x', '?before=1.1.1'],
    // `Date.parse` takes each of these for a time.
    ...['?since=soon%205', '?since=2026', '?since=2026-02-30T12:00', '?until=2020-1-1%2000:00%20'],
  ])('a malformed filter %s is answered 400 with its reason', async (query) => {
    const { status, text } = await get(`/payments${query}`)
    expect([status, text]).toEqual([400, expect.stringContaining('The request is not valid')])
  })

  it('an unknown page, payment or path is answered 404', async () => {
    const unknown = `0x${'9'.repeat(40)}`
    for (const path of [
      ...['/nothing', `/payments/1/0x${'9'.repeat(64)}`, '/payments/1/x', '/%ff', '/__proto__', '/operators'],
      ...[`/integrations/${unknown}`, '/accounts/none', '/accounts/a%2Fb', '/keys/1', '/legacy/1', '/identity/1'],
    ])
      expect((await get(path)).status, path).toBe(404)
  })
})

describe('one payment', () => {
  it('has its block, versions, updates with the reason of a rejection, and attempts with what to do', async () => {
    const { text } = await get(`/payments/${paid.chainId}/${paid.txHash}`)
    const parts = ['Mined in block', 'Version 1', 'Version 2', 'applied', 'rejected', 'attempt 1', 'Look at its log']
    for (const part of parts) expect(text).toContain(part)
  })

  it('compares any two snapshots field by field', async () => {
    const { text } = await get(`/payments/${paid.chainId}/${paid.txHash}?a=1&b=2`)
    expect(text).toMatch(/<dt>state<\/dt><dd><del>null<\/del> <ins>&quot;success&quot;<\/ins>/)
    expect(text).toContain('<dt>invoice.amount</dt>')
  })
})

it('script and style have at most 40 kB as gzip', async () => {
  const { script, style } = await loadAssets()
  const bytes = [script, style].map(({ body }) => gzipSync(body, { level: 9 }).length)
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(40_000)
  for (const [name, { version, body }] of Object.entries({ 'console.js': script, 'console.css': style })) {
    const { text, headers } = await get(`/${name}?v=${version}`)
    expect([text, headers.get('cache-control')], name).toEqual([body, 'private, max-age=31536000, immutable'])
  }
})
