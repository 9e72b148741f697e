/** The payment's page: the signature explained, the headers of attempts, and commands that repeat a delivery. */
import type { TwinIntegration } from '@payment-integration/testing/twin'
import { describe, expect, it } from 'vitest'
import { localOrigin, openChanged, setUpConsole } from '../../test/console-setup.js'
import { repeatedDelivery } from '../../test/repeated-delivery.js'
import { writeCurlCommand, writeDeliveryTest } from './repeat.js'
import { computeCodes, sentHeaders } from './signature.js'

const delivery = repeatedDelivery()

describe('the page', () => {
  let shop: TwinIntegration
  let path: string
  const received: Request[] = []
  const setup = setUpConsole(8, async (twin) => {
    shop = await twin.addIntegration((request) => {
      received.push(request.clone())
      return new Response(null, { status: 308 })
    })
    const paid = await twin.pay({ integrationAddress: shop.address })
    await twin.update(paid, { state: 'success' })
    path = `/payments/${paid.chainId}/${paid.txHash}`
  })
  const text = () => setup.get(path)

  it('has the headers of each attempt as the receiver got them, but for v1', async () => {
    const html = await text()
    for (const { headers } of received) {
      const names = ['Content-Type', 'User-Agent', 'X-Service-Integration', 'X-Service-Signature']
      const lines = names.map((name) => `${name}: ${headers.get(name)?.replace(/v1=\w+/, 'v1=(64 hex digits)')}`)
      expect(html).toContain(lines.join('\n'))
    }
  })

  it('shows the signed bytes, the age against 300 s, and what a wrong body and a wrong secret give', async () => {
    const request = received.at(-1)
    const t = /t=(\d+)/.exec(request?.headers.get('x-service-signature') ?? '')?.[1]
    const html = await text()
    expect(html).toContain(`${t}.${await request?.clone().text()}`.replaceAll('"', '&quot;'))
    expect(html).toMatch(/\d+ s now[^,]*, against 300 s/)
    for (const part of ['JSON.stringify(JSON.parse(body))', 'such as the API secret', 'rejected, 401'])
      expect(html).toContain(part)
  })

  it('holds no secret and no real signature', async () => {
    const html = await text()
    for (const { headers } of received) {
      const v1 = /v1=(\w{64})/.exec(headers.get('x-service-signature') ?? '')?.[1]
      for (const hidden of [shop.apiSecret, shop.signingSecret, v1 ?? 'none']) expect(html).not.toContain(hidden)
    }
  })

  it('has the hash in the notation of its chain, as text, if the chain has one', async () => {
    expect(await text()).not.toContain('On its chain')
    const indexers = setup.twin.service.indexers.map((indexer) => ({ ...indexer, nativeHash: () => '<b>5Kq9' }))
    const html = await openChanged(setup.twin, { indexers }).get(path)
    expect(html).toContain('On its chain')
    expect(html).toContain('&lt;b&gt;5Kq9')
  })

  it('says of an unknown hash how far its chain is indexed', async () => {
    const unknown = (chain: string) => `/payments/${chain}/0x${'ab'.repeat(32)}`
    const [, , chain = ''] = path.split('/')
    const { indexed } = setup.twin.service.indexers.find(({ chainId }) => String(chainId) === chain)?.status() ?? {}
    const answer = await setup.pages.fetch(new Request(`${localOrigin}/console${unknown(chain)}`))
    const none = 'No payment with this hash;'
    expect(answer.status).toBe(404)
    expect(await answer.text()).toMatch(new RegExp(`${none} chain ${chain}[ \\w]* is indexed to block ${indexed}\\.`))
    expect(await setup.get(unknown('999'))).toContain(`${none} chain 999 is not followed.`)
    const { indexers } = setup.twin.service
    const idle = indexers.map((one) => ({ ...one, status: () => ({ ...one.status(), indexed: null }) }))
    const fresh = await openChanged(setup.twin, { indexers: idle }).get(unknown(chain))
    expect(fresh).toContain(`${none} no block of this chain is indexed yet.`)
  })

  it.each([
    ['blocked for a minute', 60_000, /<time.*endpoint blocked/],
    ['whose block has passed', -500, /^<span>\s*<span class="dim">endpoint blocked/],
    ['that is not blocked', null, /^<span>due now</],
  ])('a delivery that is due has no next attempt in the past: endpoint %s', async (_, forMs, expected) => {
    const { queries } = setup.twin.service
    const at = setup.twin.clock.now()
    const health = { integrationAddress: shop.address, failures: 9, blocks: 1, failingSince: at - 9_000 }
    const changed = {
      endpoints: async () => (forMs === null ? [] : [{ ...health, blockedUntil: at + forMs }]),
      deliveriesByPayment: async (id: string) =>
        (await queries.deliveriesByPayment(id)).slice(0, 1).map((one) => ({ ...one, nextAttemptAt: at - 1_000 })),
    }
    const html = await openChanged(setup.twin, { queries: { ...queries, ...changed } }).get(path)
    expect(/data-label="Next attempt"[^>]*>(.*?)<\/td>/.exec(html)?.[1]).toMatch(expected)
    const [, time = '', note] =
      /class="next".*?datetime="(.*?)".*?Next attempt of version \d+: (.*?)<\/div>/.exec(html) ?? []
    expect([Date.parse(time) - at, note?.includes('endpoint blocked')]).toEqual([forMs ?? -1_000, forMs !== null])
  })
})

describe('the snapshots of a payment with more versions than its page reads', () => {
  const versions = 54
  let path: string
  const setup = setUpConsole(15, async (twin) => {
    const paid = await twin.pay({ integrationAddress: (await twin.addIntegration()).address })
    for (let n = 2; n <= versions; n += 1)
      await twin.update(paid, { recipient: { title: `title of version ${n}`, subtitle: null } })
    path = `/payments/${paid.chainId}/${paid.txHash}`
  })

  it('the newest 50 are on the page, which says how many there are', async () => {
    const html = await setup.get(path)
    expect(html).toContain(`This page has 50 of ${versions} versions`)
    expect(html).not.toContain('is not stored')
  })

  it('any two versions are compared, also old ones; one that is not there is named', async () => {
    expect(await setup.get(`${path}?a=2&b=54`)).toMatch(
      /<del>[^<]*title of version 2&quot;<\/del> <ins>[^<]*title of version 54&quot;<\/ins>/,
    )
    expect(await setup.get(`${path}?a=1&b=60`)).toContain('Version 60 is not stored.')
  })
})

describe('codes', () => {
  it.each([
    ['the bytes of JSON.stringify survive a parse; others do not', '{"a":1}', [true, true, false, false, false]],
    ['a number that JSON.parse changes gives another code', '{"a":1.0}', [true, false, false, false, false]],
    ['a body that is no JSON is not parsed', 'x', [true, false, false]],
  ])('%s', (_, body, rights) => {
    expect(computeCodes(1_700_000_000, body).map(({ isRight }) => isRight)).toEqual(rights)
  })
})

it('the shown headers have the time of the attempt in whole seconds', () => {
  const headers = sentHeaders(delivery.integrationAddress, 1_700_000_000_999)
  expect(headers).toMatch(/\nX-Service-Signature: t=1700000000,v1=\(64 hex digits\)$/)
})

it('the command and the test are printable ASCII alone, whatever the snapshot has', () => {
  for (const text of [writeCurlCommand(delivery), writeDeliveryTest(delivery)]) expect(text).toMatch(/^[\n\x20-\x7e]*$/)
})
