import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  apiSecret,
  basic,
  chosenService,
  goodAuthorization,
  integrationAddress,
  txHash,
  wallet,
} from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'

const service = chosenService()
let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp({ service })
})
afterAll(() => server.stop())

const list = '/api/v1/integration/payments'
/** Without what differs between two answers to one request: the date and the id. */
const comparable = (raw: string) => raw.replaceAll(/^(?:Date|X-Request-Id): .*\r\n/gim, '')

describe('a request to the integration API without valid credentials', () => {
  const causes: Readonly<Record<string, readonly string[]>> = {
    'no header': [],
    'an empty header': ['Authorization: '],
    'an unknown address': [`Authorization: ${basic(`0x${'99'.repeat(20)}`, apiSecret)}`],
    'a wrong secret': [`Authorization: ${basic(integrationAddress, 'wrong')}`],
    'the raw address:secret form': [`Authorization: ${integrationAddress}:${apiSecret}`],
    'another scheme': ['Authorization: Bearer abc'],
    'broken base64': ['Authorization: Basic %%%'],
    'an oversized header': [`Authorization: Basic ${'A'.repeat(4_000)}`],
    'the header twice, both valid': [`Authorization: ${goodAuthorization}`, `authorization: ${goodAuthorization}`],
    'the header twice, first valid': [`Authorization: ${goodAuthorization}`, 'Authorization: Basic eDp5'],
    'the header twice, second valid': ['AUTHORIZATION: Basic eDp5', `Authorization: ${goodAuthorization}`],
  }

  it('answers 401 with the same bytes for every cause', async () => {
    const answers = await Promise.all(
      Object.entries(causes).map(async ([cause, headers]) => [
        cause,
        await sendRaw(server.url, requestText(list, headers)),
      ]),
    )
    const expected = comparable(answers[0]?.[1] ?? '')
    for (const [cause, answer] of answers) expect(comparable(answer ?? ''), cause).toBe(expected)
    const { status, headers, body } = parseRaw(expected)
    expect(status).toBe(401)
    expect(body).toBe('{"error":"Unauthorized"}')
    expect(headers.get('www-authenticate')).toBe('Basic realm="payment-integration"')
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(headers.get('content-type')).toBe('application/json')
  })

  const targets = [
    `${list}?limit=0`,
    `${list}?limit=abc&limit=1`,
    `${list}?cursor=%ff`,
    `${list}?%`,
    `${list}/nonsense`,
    `${list}/${txHash}`,
    `${list}/%zz`,
    `/api/v1/integration/wallet/nonsense/payments`,
    `/api/v1/integration/wallet/${wallet}/payments/x`,
    '/api/v1/integration',
    '/api/v1/integration/',
    '/api/v1/integration/unknown/path',
    '/API/V1/Integration/payments',
    '/api/v1/%69ntegration/payments',
    '/api/v1/%2569ntegration/payments',
    '/api/v1%2Fintegration/payments',
    '/api//v1///integration/payments',
    '/api/v1/x/../integration/payments',
    '/api/v1/x/..%2fintegration/payments',
    '//api/v1/integration/payments',
    '/api\\v1\\integration\\payments',
    '/api/v1/integration/\\..\\payments',
    'http://localhost/api/v1/integration/payments',
    'HTTPS://other.example:8443/api/v1/integration/payments?limit=0',
    'http://localhost//API/v1/x/..%2fintegration/payments',
    'http://user:password@localhost/api/v1/integration/payments',
    'http:///api/v1/integration/payments',
    'http://[/api/v1/integration/payments',
    'ftp://localhost/api/v1/integration/payments',
  ]
  it.each(targets)('is 401 before the path is validated: %s', async (target) => {
    const { status, body, headers } = parseRaw(await sendRaw(server.url, requestText(target)))
    expect([status, body]).toEqual([401, '{"error":"Unauthorized"}'])
    expect(headers.get('cache-control')).toBe('private, no-store')
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])('is 401 for %s', async (method) => {
    const { status, body } = parseRaw(await sendRaw(server.url, requestText(list, ['Content-Length: 0'], { method })))
    expect([status, body]).toEqual([401, '{"error":"Unauthorized"}'])
  })

  it('is 401 for HEAD, without a body', async () => {
    const answer = await fetch(`${server.url}${list}`, { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([401, ''])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })

  it('is 401 for a GET with a body', async () => {
    const text = requestText(list, ['Content-Length: 5'], { body: 'hello' })
    expect(parseRaw(await sendRaw(server.url, text)).status).toBe(401)
  })

  it('is 401 for a repeated Authorization, also when the host passes only the first one to the app', async () => {
    const incoming = { rawHeaders: ['Authorization', goodAuthorization, 'authorization', 'Basic eDp5'] }
    const ask = (env: object) =>
      server.app.fetch(new Request(`${server.url}${list}`, { headers: { authorization: goodAuthorization } }), env)
    expect((await ask({ incoming: { rawHeaders: incoming.rawHeaders.slice(0, 2) } })).status).toBe(200)
    expect(service.calls.splice(0)).toHaveLength(1)
    expect((await ask({ incoming })).status).toBe(401)
  })

  it('is 401 for a repeated Content-Type', async () => {
    const text = requestText(list, ['Content-Type: text/plain', 'Content-Type: application/json'])
    const { status, body } = parseRaw(await sendRaw(server.url, text))
    expect([status, body]).toEqual([401, '{"error":"Unauthorized"}'])
  })

  it('reaches no use case', () => {
    expect(service.calls).toEqual([])
  })
})

describe('a message whose framing cannot be trusted', () => {
  it.each([
    ['two hosts', ['Host: other']],
    ['two lengths', ['Content-Length: 0', 'Content-Length: 0']],
    ['a length and a transfer encoding', ['Content-Length: 0', 'Transfer-Encoding: chunked']],
  ])('is 400 with credentials and without: %s', async (_, headers) => {
    for (const credentials of [[], [`Authorization: ${goodAuthorization}`]]) {
      const text = requestText(list, [...credentials, ...headers])
      expect(parseRaw(await sendRaw(server.url, text)).status).toBe(400)
    }
    expect(service.calls).toEqual([])
  })
})

describe('a request with valid credentials', () => {
  const authorized = (target: string, method = 'GET') =>
    fetch(`${server.url}${target}`, { method, headers: { authorization: goodAuthorization } })

  it.each(['/api/v1/integration', '/api/v1/integration/unknown', '/API/V1/Integration/payments', `${list}/`])(
    'is 404 on a path that does not exist: %s',
    async (target) => {
      const answer = await authorized(target)
      expect([answer.status, await answer.json()]).toEqual([404, { error: 'Not found' }])
      expect(answer.headers.get('cache-control')).toBe('private, no-store')
    },
  )

  it.each(['http://localhost', 'https://other.example:8443', 'HTTP://[::1]:1'])(
    'is served when its target has the absolute form: %s',
    async (origin) => {
      const text = requestText(`${origin}${list}?limit=3`, [`Authorization: ${goodAuthorization}`])
      const { status, body } = parseRaw(await sendRaw(server.url, text))
      expect([status, JSON.parse(body)]).toEqual([200, { payments: [], nextCursor: null }])
      expect(service.calls.splice(0)).toEqual(['list {"limit":"3"}'])
    },
  )

  it.each(['http:///', 'http://user@localhost/', 'ftp://localhost/'])(
    'is 404 under an invalid origin: %s',
    async (origin) => {
      const text = requestText(`${origin}${list.slice(1)}`, [`Authorization: ${goodAuthorization}`])
      expect(parseRaw(await sendRaw(server.url, text)).status).toBe(404)
    },
  )

  it('is 400 with a repeated Content-Type', async () => {
    const repeated = ['Content-Type: text/plain', 'content-type: application/json']
    const text = requestText(list, [`Authorization: ${goodAuthorization}`, ...repeated])
    const { status, body } = parseRaw(await sendRaw(server.url, text))
    expect([status, body]).toEqual([400, '{"error":"Header content-type is given more than once"}'])
    expect(service.calls).toEqual([])
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('is 405 for %s, naming the allowed methods', async (method) => {
    const answer = await authorized(list, method)
    expect([answer.status, await answer.json()]).toEqual([405, { error: 'Method not allowed' }])
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })

  it('is 204 for OPTIONS, naming the allowed methods', async () => {
    const answer = await authorized(list, 'OPTIONS')
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
  })
})
