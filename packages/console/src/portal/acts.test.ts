/** Acts of the portal. Source: docs/decisions/operators.md. */
import type { TwinIntegration } from '@payment-integration/testing/twin'
import { createVerifier } from '@payment-integration/webhook'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BrowserLike } from '../../test/browser-like.js'
import { openPortal, type PortalSetup } from '../../test/portal-setup.js'

let setup: PortalSetup
let shop: TwinIntegration
let shopBrowser: BrowserLike
let status = 204

beforeEach(async () => {
  status = 204
  setup = await openPortal(32)
  shop = await setup.twin.addIntegration(() => new Response(status === 204 ? null : '<b>answer</b>\u202e', { status }))
  shopBrowser = await setup.signIn(shop)
})
afterEach(() => setup?.twin.close())

const act = async (name: string, fields: Record<string, string> = {}) =>
  shopBrowser.post(`/portal/act/${name}`, { csrf: await shopBrowser.csrf('/portal'), ...fields })
/** A payment's page, and the delivery that it offers to replay. */
async function payAndFindDelivery(): Promise<[path: string, id: string]> {
  const paid = await setup.twin.pay({ integrationAddress: shop.address })
  const path = `/portal/payments/${paid.chainId}/${paid.txHash}`
  return [path, /\/deliveries\/replay\?id=(\d+)"/.exec((await shopBrowser.get(path)).text)?.[1] ?? '']
}
const view = () => setup.twin.service.integrations.get(shop.address)
const secretIn = (text: string) => /pi_(?:api|whsec)_[\w-]{43}/.exec(text)?.[0] ?? ''
const mine = (action: string, subject = shop.address) => `integration:${shop.address} ${action} ${subject}`

/** Every page that the navigation leads to. */
async function allPages(): Promise<string> {
  const paths = ['', '/payments', '/deliveries', '/endpoint', '/secrets']
  return (await Promise.all(paths.map(async (path) => (await shopBrowser.get(`/portal${path}`)).text))).join()
}

it('a replay is offered as "Replay…" wherever a delivery stands, and each link asks first', async () => {
  status = 503
  const [path, id] = await payAndFindDelivery()
  const link = `<a href="/portal/deliveries/replay?id=${id}">Replay…</a>`
  for (const each of [path, '/portal', '/portal/deliveries', '/portal/endpoint'])
    expect((await shopBrowser.get(each)).text.split(link), each).toHaveLength(2)
  const { text } = await shopBrowser.get(`/portal/deliveries/replay?id=${id}`)
  for (const part of ['<h1>Replay 1 delivery?</h1>', 'A replay sends them now.', 'action="/portal/act/replay"'])
    expect(text).toContain(part)
  expect(text).toMatch(/name="id" value="\d+".*>Replay 1 delivery<\/button>/)
  expect((await shopBrowser.get('/portal/deliveries/replay?id=99999')).status).toBe(404)
  expect((await shopBrowser.get('/portal/deliveries/replay')).status).toBe(400)
})
it('a replay makes a delivery due once more, in the name of the integration', async () => {
  const [path, id] = await payAndFindDelivery()
  const { location } = await act('replay', { id })
  expect(location).toBe(`${path}?note=replayed`)
  expect((await shopBrowser.get(location ?? '')).text).toContain('The delivery is due now.')
  expect(await setup.audit(1)).toEqual([mine('deliveries.replayed', id)])
  await setup.twin.advance(0)
  expect(setup.twin.arrivals).toHaveLength(2)
})
it('the search finds own payments by hash, by wallet, and by the beginning of a memo', async () => {
  const find = (q: string) => shopBrowser.get(`/portal/payments?q=${encodeURIComponent(q)}`)
  const { address: other } = await setup.twin.addIntegration()
  const sender = `0x${'e1'.repeat(20)}`
  const pay = (integrationAddress: string, memo: string) => setup.twin.pay({ integrationAddress, sender, memo })
  await pay(other, 'order-3')
  const paid = await pay(shop.address, 'order-1')
  const second = await pay(shop.address, 'order-2')
  const getPath = ({ chainId, txHash }: typeof paid) => `/portal/payments/${chainId}/${txHash}`
  expect((await find(paid.txHash.toUpperCase().replace('0X', '0x'))).location).toBe(getPath(paid))
  expect((await find('order-2')).location).toBe(getPath(second))
  for (const q of ['order', sender]) {
    const { text } = await find(q)
    expect([paid, second].map(({ txHash }) => text.includes(txHash))).toEqual([true, true])
    expect(text).not.toContain('order-3')
  }
  for (const q of ['order-3', 'none', `0x${'9'.repeat(64)}`, `0x${'9'.repeat(40)}`])
    expect((await find(q)).text).toContain('No payment of your integration matches.')
})
it('the last page of a search is a list, even if its only payment has the searched memo', async () => {
  await setup.twin.pay({ integrationAddress: shop.address, memo: 'order' })
  const { store } = setup.twin.service
  const [row] = (await store.console.payments({ integrationAddress: shop.address, limit: 1 })).rows
  if (row === undefined) throw new Error('There is no payment.')
  const build = (n: number) => ({ facts: { ...row, txHash: `0x${n.toString(16).padStart(64, '0')}` }, primary: true })
  await store.transaction((tx) => tx.upsertPayments(Array.from({ length: 50 }, (_, n) => build(n))))
  const { text } = await shopBrowser.get('/portal/payments?q=order')
  const [, next = ''] = /href="([^"]*)" rel="next"/.exec(text) ?? []
  const last = await shopBrowser.get(next.replaceAll('&amp;', '&'))
  expect([text, last.text].map((each) => each.split('data-label="Memo"').length - 1)).toEqual([50, 1])
})

describe('a test delivery', () => {
  it('shows the answer and the request, passes a verifier, and is listed nowhere', async () => {
    const { text } = await act('test')
    const [arrived] = setup.twin.arrivals
    const { verify } = createVerifier({ secrets: shop.signingSecret, clock: setup.twin.clock })
    const { snapshot } = await verify({ body: arrived?.body ?? new Uint8Array(), headers: arrived?.headers ?? {} })
    expect(snapshot).toMatchObject({ state: null, invoice: null, recipient: { title: 'Test delivery' } })
    expect(text).toContain('The receiver accepted it')
    expect(text).toContain('This is no payment')
    expect(await setup.twin.service.deliveries.count({})).toBe(0)
    expect(await setup.audit(1)).toEqual([mine('integration.test_sent')])
  })

  it('shows a failure with its cause, and the answer as text', async () => {
    status = 401
    const { status: answered, text } = await act('test')
    expect(answered).toBe(200)
    expect(text).toContain('The receiver rejected the signature.')
    expect(text).toContain('&lt;b&gt;answer&lt;/b&gt;\\u{202e}')
  })

  it('without a URL says so', async () => {
    await act('url')
    const { status: answered, text } = await act('test')
    expect([answered, text.includes('has no notification URL')]).toEqual([409, true])
  })
})

describe('the notification URL', () => {
  it('is set and removed', async () => {
    const { location } = await act('url', { url: 'https://other.example/hook' })
    expect(location).toBe('/portal/endpoint?note=url-set')
    expect((await view()).notificationUrl).toBe('https://other.example/hook')
    await act('url', { url: ' ' })
    expect((await view()).notificationUrl).toBeNull()
    expect(await setup.audit(2)).toEqual([mine('integration.url_set'), mine('integration.url_set')])
  })

  it('that the command rejects is rejected with the same reason', async () => {
    const { status: answered, text } = await act('url', { url: 'https://10.0.0.1/hook' })
    expect([answered, text.includes('The notification URL is rejected')]).toEqual([400, true])
    expect((await view()).notificationUrl).toBe(shop.notificationUrl)
  })
})

describe('a new API secret', () => {
  it('is shown once; both work until the previous one is ended; then its sessions end', async () => {
    const { text, headers } = await act('rotate', { graceHours: '24' })
    const apiSecret = secretIn(text)
    expect([text.split(apiSecret).length, headers.get('cache-control')]).toEqual([2, 'no-store'])
    const renewed = await setup.signIn({ address: shop.address, apiSecret })
    expect(await allPages()).not.toMatch(/pi_api_|<\/time> UTC/)
    expect((await act('end-api')).status).toBe(400)
    expect((await act('end-api', { confirmed: 'yes' })).location).toBe('/portal/secrets?note=api-ended')
    expect([(await shopBrowser.get('/portal')).status, (await renewed.get('/portal')).status]).toEqual([303, 200])
    const [ended, , rotated] = await setup.audit(3)
    expect(ended).toBe(mine('integration.previous_api_secret_ended'))
    expect(rotated).toBe(mine('integration.api_secret_rotated'))
  })

  it('is not made by a reload of the answer, which would end the secret that still works', async () => {
    const csrf = await shopBrowser.csrf('/portal')
    const post = () => shopBrowser.post('/portal/act/rotate', { csrf, graceHours: '24' })
    const first = await post()
    const again = await post()
    expect([first.status, again.status, secretIn(again.text)]).toEqual([200, 409, ''])
    await setup.signIn(shop)
    await setup.signIn({ address: shop.address, apiSecret: secretIn(first.text) })
  })
})

describe('a new signing secret', () => {
  it('is shown once when it is prepared, signs when it is activated, and ends the previous one when asked', async () => {
    const prepared = await act('prepare')
    const signingSecret = secretIn(prepared.text)
    expect(signingSecret).toMatch(/^pi_whsec_/)
    const again = await act('prepare')
    expect([again.status, secretIn(again.text)]).toEqual([409, ''])
    expect(await allPages()).not.toContain('pi_whsec_')
    await act('test')
    await act('activate', { graceHours: '24' })
    await setup.twin.advance(5_000)
    await act('test')
    const verify = (secrets: string, nth: number) => {
      const { body = new Uint8Array(), headers = {} } = setup.twin.arrivals[nth] ?? {}
      return createVerifier({ secrets, clock: setup.twin.clock }).verify({ body, headers })
    }
    await verify(shop.signingSecret, 0)
    await verify(signingSecret, 1)
    expect((await view()).previousSigningSecretUntil).not.toBeNull()
    expect((await act('end-signing', { confirmed: 'yes' })).location).toBe('/portal/secrets?note=signing-ended')
    expect((await view()).previousSigningSecretUntil).toBeNull()
    const actions = (await setup.audit(5)).map((line) => line.split(' '))
    expect(new Set(actions.map(([actor]) => actor))).toEqual(new Set([`integration:${shop.address}`]))
  })

  it('that is aborted is deleted, and another one can be prepared', async () => {
    const first = secretIn((await act('prepare')).text)
    expect((await act('abort')).location).toBe('/portal/secrets?note=signing-aborted')
    expect((await act('activate', { graceHours: '1' })).status).toBe(409)
    expect(secretIn((await act('prepare')).text)).not.toBe(first)
  })
})

it("no act is done with another session's CSRF token, with none, from another site, or by a GET", async () => {
  const [, id] = await payAndFindDelivery()
  const csrf = await shopBrowser.csrf('/portal')
  const other = await (await setup.signIn(shop)).csrf('/portal')
  const before = await setup.audit(1)
  const acts = ['replay', 'test', 'url', 'rotate', 'end-api', 'prepare']
  for (const name of [...acts, 'activate', 'abort', 'end-signing']) {
    const fields = { id, graceHours: '1', confirmed: 'yes' }
    for (const given of [{}, { csrf: other }, { csrf: '' }])
      expect((await shopBrowser.post(`/portal/act/${name}`, { ...fields, ...given })).status, name).toBe(403)
    for (const Origin of ['https://evil.example', 'null', null])
      expect((await shopBrowser.post(`/portal/act/${name}`, { ...fields, csrf }, { Origin })).status, name).toBe(403)
    expect((await shopBrowser.get(`/portal/act/${name}?csrf=${csrf}&id=${id}`)).status, name).toBe(404)
  }
  for (const name of ['constructor', 'unknown', '__proto__'])
    expect((await shopBrowser.post(`/portal/act/${name}`, { csrf })).status).toBe(404)
  expect(await setup.audit(1)).toEqual(before)
})

it('hostile text of a payment is text on every page', async () => {
  const paid = await setup.twin.pay({ integrationAddress: shop.address, memo: '<img src=x>\u202e' })
  await setup.twin.update(paid, { recipient: { title: '<script>alert(1)</script>', subtitle: null } })
  const page = await shopBrowser.get(`/portal/payments/${paid.chainId}/${paid.txHash}`)
  const text = `${page.text}${await allPages()}`
  expect(text).not.toMatch(/<img src=x|<script>alert|\u202e/)
  expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
})
