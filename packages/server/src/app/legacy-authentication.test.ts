import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chosenService, legacyKey, txHash } from '../../test/support/integration-service.js'
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
const ask = (...request: Parameters<typeof requestText>) => sendRaw(server.url, requestText(...request))
const unauthorized = { status: 401, body: '{"error":"Unauthorized"}' }

describe('a request to the legacy API without a valid key', () => {
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
