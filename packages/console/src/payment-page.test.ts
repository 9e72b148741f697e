/** The payment's page: the signature explained, the headers of attempts, and commands that repeat a delivery. */
import { execFile } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import { promisify } from 'node:util'
import { createTwin, type Twin, type TwinIntegration } from '@payment-integration/testing/twin'
import { createVerifier } from '@payment-integration/webhook'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Console, createConsole } from './create-console.js'
import { curlCommand, deliveryTest } from './pages/commands.js'
import { computedCodes } from './pages/computed-codes.js'
import { sentHeaders } from './pages/sent-headers.js'

const hostile = `it's "50%" \\n \`id\` $(id) \u202e\u2028 K\u00e4se \u{1f9c0}`
const delivery = {
  integrationAddress: `0x${'a1'.repeat(20)}`,
  txHash: `0x${'b2'.repeat(32)}`,
  version: 2,
  text: JSON.stringify({
    ...{ integrationAddress: `0x${'a1'.repeat(20)}`, chainId: '137', txHash: `0x${'b2'.repeat(32)}`, version: 2 },
    ...{ state: 'success', recipient: { title: hostile, subtitle: null }, invoice: null },
  }),
  url: null,
}

describe('the page', () => {
  let twin: Twin
  let pages: Console
  let shop: TwinIntegration
  let paid: { readonly chainId: string; readonly txHash: string }
  const received: Request[] = []

  beforeAll(async () => {
    twin = await createTwin({ seed: 8 })
    shop = await twin.addIntegration((request) => {
      received.push(request.clone())
      return new Response(null, { status: 308 })
    })
    paid = await twin.pay({ integrationAddress: shop.address })
    await twin.update(paid, { state: 'success' })
    pages = createConsole({ service: twin.service, now: twin.now })
  })
  afterAll(async () => {
    pages?.close()
    await twin?.close()
  })

  async function text(): Promise<string> {
    const url = `http://127.0.0.1:4747/console/payments/${paid.chainId}/${paid.txHash}`
    return (await pages.fetch(new Request(url))).text()
  }

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

  it('a redirect is explained on the time line', async () => {
    expect(await text()).toContain('redirects are not followed')
  })
})

describe('codes', () => {
  const rights = (body: string) => computedCodes(1_700_000_000, body).map(({ isRight }) => isRight)

  it('the bytes of JSON.stringify survive a parse; indented ones, a line end and another secret do not', () => {
    expect(rights('{"a":1}')).toEqual([true, true, false, false, false])
  })

  it('a number that JSON.parse changes gives another code', () => {
    expect(rights('{"a":1.0}')).toEqual([true, false, false, false, false])
  })

  it('a body that is no JSON is not parsed', () => {
    expect(rights('x')).toEqual([true, false, false])
  })
})

it('v1 is no part of the shown headers', () => {
  expect(sentHeaders(delivery.integrationAddress, 1_700_000_000_999)).toBe(
    [
      'Content-Type: application/json',
      'User-Agent: payment-integration',
      `X-Service-Integration: ${delivery.integrationAddress}`,
      'X-Service-Signature: t=1700000000,v1=(64 hex digits)',
    ].join('\n'),
  )
})

describe('the command', () => {
  const secret = "pi_whsec_it's a $ecret"
  let server: Server
  let url: string
  const bodies: Buffer[] = []
  const verdicts: string[] = []

  beforeAll(async () => {
    const { verify } = createVerifier({ secrets: secret })
    server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', async () => {
        const body = Buffer.concat(parts)
        bodies.push(body)
        const headers = new Headers(request.headers as Record<string, string>)
        const verdict = await verify({ headers, body: new Uint8Array(body) }).then(
          () => 'verified',
          (error: Error) => error.message,
        )
        verdicts.push(verdict)
        response.end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/it's`
  })
  afterAll(() => void server?.close())

  const run = (command: string, env: Record<string, string>) =>
    promisify(execFile)('sh', ['-c', command], { env: { PATH: process.env['PATH'] ?? '', ...env } })

  it('posts the same bytes, and a receiver verifies them', async () => {
    await run(curlCommand({ ...delivery, url }), { WEBHOOK_SECRET: secret })
    expect([bodies.at(-1)?.toString(), verdicts.at(-1)]).toEqual([delivery.text, 'verified'])
  })

  it.each([null, 'https://shop.example/hook?key=1', 'https://me:word@shop.example/hook'])(
    'with the URL %s it reads the URL from the environment',
    async (hidden) => {
      const command = curlCommand({ ...delivery, url: hidden })
      expect(command).not.toMatch(/key=1|me:word/)
      await run(command, { WEBHOOK_SECRET: secret, WEBHOOK_URL: url })
      expect(verdicts.at(-1)).toBe('verified')
    },
  )

  it('without the secret it sends nothing, and says what to set', async () => {
    const before = bodies.length
    await expect(run(curlCommand({ ...delivery, url }), {})).rejects.toThrow('Set it to the signing secret of 0xa1a1')
    expect(bodies).toHaveLength(before)
  })

  it('is printable ASCII alone, as is the test', () => {
    for (const text of [curlCommand({ ...delivery, url }), deliveryTest(delivery)])
      expect(text).toMatch(/^[\n\x20-\x7e]*$/)
  })
})
