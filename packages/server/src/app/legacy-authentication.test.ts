import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chosenService, goodAuthorization, legacyKey, txHash } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'

const service = chosenService()
let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp({ service })
})
afterAll(() => server.stop())

const lookup = `/api/v1/tx/1/${txHash}`
const verify = '/api/v1/verify'
/** Without what differs between two answers to one request: the date and the id. */
const comparable = (raw: string) => raw.replaceAll(/^(?:Date|X-Request-Id): .*\r\n/gim, '')
const ask = (...request: Parameters<typeof requestText>) => sendRaw(server.url, requestText(...request))
const unauthorized = { status: 401, body: '{"error":"Unauthorized"}' }

describe('a request to the legacy API without a valid key', () => {
  const causes: Readonly<Record<string, readonly string[]>> = {
    'no header': [],
    'an empty header': ['Authorization: '],
    'another key': ['Authorization: another-key'],
    'another key as Bearer': ['Authorization: Bearer another-key'],
    'credentials of the integration API': [`Authorization: ${goodAuthorization}`],
    'an oversized header': [`Authorization: Bearer ${'A'.repeat(4_000)}`],
    'the header twice, both valid': [`Authorization: ${legacyKey}`, `authorization: ${legacyKey}`],
    'the header twice, first valid': [`Authorization: ${legacyKey}`, 'Authorization: x'],
    'the header twice, second valid': ['AUTHORIZATION: x', `Authorization: ${legacyKey}`],
    'the key under another header': [`X-Api-Key: ${legacyKey}`],
  }

  it('answers 401 with the same bytes for every cause, on look-up and verify', async () => {
    const expected = comparable(await ask(lookup))
    for (const [cause, headers] of Object.entries(causes)) {
      expect(comparable(await ask(lookup, headers)), cause).toBe(expected)
      expect(comparable(await ask(verify, headers, { method: 'POST' })), cause).toBe(expected)
    }
    const { headers, ...answer } = parseRaw(expected)
    expect(answer).toEqual(unauthorized)
    expect(headers.get('www-authenticate')).toBe('Bearer realm="payment-integration"')
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(headers.get('content-type')).toBe('application/json')
  })

  const targets = [
    `${lookup}?limit=0`,
    `/api/v1/tx/1/nonsense`,
    `/api/v1/tx/-1/${txHash}`,
    `/api/v1/tx/%zz/${txHash}`,
    '/api/v1/tx',
    '/api/v1/tx/',
    '/api/v1/tx/1',
    `${lookup}/more`,
    '/api/v1/verify/',
    '/api/v1/verify/more',
    '/api/v1/verify?x=%',
    `/API/V1/TX/1/${txHash}`,
    `/api/v1/%74x/1/${txHash}`,
    `/api/v1/%2574x/1/${txHash}`,
    '/api/v1/%56erify',
    '/api/v1%2Fverify',
    `/api//v1///tx/1/${txHash}`,
    `/api/v1/x/../tx/1/${txHash}`,
    '/api/v1/x/..%2fverify',
    '//api/v1/verify',
    '/api\\v1\\verify',
    '/api/v1/verify/\\..\\x',
    `http://localhost${lookup}`,
    'HTTPS://other.example:8443/api/v1/verify?x',
    'http://user:password@localhost/api/v1/verify',
    'http:///api/v1/verify',
    `http://[${lookup}`,
    'ftp://localhost/api/v1/verify',
  ]
  it.each(targets)('is 401 before the path is validated: %s', async (target) => {
    const { headers, ...answer } = parseRaw(await ask(target))
    expect(answer).toEqual(unauthorized)
    expect(headers.get('cache-control')).toBe('private, no-store')
  })

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])('is 401 for %s', async (method) => {
    for (const target of [lookup, verify])
      expect(parseRaw(await ask(target, ['Content-Length: 0'], { method }))).toMatchObject(unauthorized)
  })

  it('is 401 for HEAD, without a body', async () => {
    const answer = await fetch(`${server.url}${lookup}`, { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([401, ''])
  })

  it.each([
    ['a GET with a body', 'GET', lookup, ['Content-Length: 5'], 'hello'],
    ['another content type', 'POST', verify, ['Content-Type: text/plain', 'Content-Length: 2'], '{}'],
    ['two content types', 'POST', verify, ['Content-Type: text/plain', 'Content-Type: application/json'], ''],
    ['a content encoding', 'POST', verify, ['Content-Encoding: gzip', 'Content-Length: 2'], '{}'],
    ['a body that is no JSON', 'POST', verify, ['Content-Type: application/json', 'Content-Length: 1'], '{'],
    ['a body above the cap', 'POST', verify, ['Content-Type: application/json', 'Content-Length: 100000000'], ''],
  ])('is 401 with %s', async (_, method, target, headers, body) => {
    expect(parseRaw(await ask(target, headers, { method, body }))).toMatchObject(unauthorized)
  })

  it('reaches no use case', () => {
    expect(service.calls).toEqual([])
  })
})

describe('a request to the legacy API with a valid key', () => {
  it.each([legacyKey, `Bearer ${legacyKey}`])('is served with the header %s', async (authorization) => {
    const answer = await fetch(`${server.url}${lookup}`, { headers: { authorization } })
    expect(answer.status).toBe(200)
    expect(service.calls.splice(0)).toHaveLength(1)
  })

  it('is 401 for a repeated Authorization, also when the host passes only the first one to the app', async () => {
    const rawHeaders = ['Authorization', legacyKey, 'authorization', 'x']
    const fetched = (headers: readonly string[]) =>
      server.app.fetch(new Request(`${server.url}${lookup}`, { headers: { authorization: legacyKey } }), {
        incoming: { rawHeaders: headers },
      })
    expect((await fetched(rawHeaders.slice(0, 2))).status).toBe(200)
    expect((await fetched(rawHeaders)).status).toBe(401)
    expect(service.calls.splice(0)).toHaveLength(1)
  })

  it('is 401 on the integration API, with the challenge of that API', async () => {
    const answer = await fetch(`${server.url}/api/v1/integration/payments`, { headers: { authorization: legacyKey } })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="payment-integration"'])
  })

  it.each([
    '/api/v1/tx',
    '/api/v1/tx/1',
    `${lookup}/`,
    `${lookup}/more`,
    `/API/V1/TX/1/${txHash}`,
    '/api/v1/verify/',
    '/api/v1/Verify',
    '/api\\v1\\verify',
    'ftp://localhost/api/v1/verify',
  ])('is 404 on a path that does not exist: %s', async (target) => {
    const { headers, ...answer } = parseRaw(await ask(target, [`Authorization: ${legacyKey}`]))
    expect(answer).toEqual({ status: 404, body: '{"error":"Not found"}' })
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(service.calls).toEqual([])
  })
})
