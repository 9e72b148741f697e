import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chosenService, goodAuthorization } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'

const service = chosenService()
let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp({ service })
})
afterAll(() => server.stop())

const list = '/api/v1/integration/payments'

describe('a request to the integration API without valid credentials', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])('is 401 for %s', async (method) => {
    const { status, body } = parseRaw(await sendRaw(server.url, requestText(list, ['Content-Length: 0'], { method })))
    expect([status, body]).toEqual([401, '{"error":"Unauthorized"}'])
  })

  it('is 401 for a repeated Authorization, also when the host passes only the first one to the app', async () => {
    const incoming = { rawHeaders: ['Authorization', goodAuthorization, 'authorization', 'Basic eDp5'] }
    const ask = (env: object) =>
      server.app.fetch(new Request(`${server.url}${list}`, { headers: { authorization: goodAuthorization } }), env)
    expect((await ask({ incoming: { rawHeaders: incoming.rawHeaders.slice(0, 2) } })).status).toBe(200)
    expect(service.calls.splice(0)).toHaveLength(1)
    expect((await ask({ incoming })).status).toBe(401)
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

  it.each(['http://localhost', 'https://other.example:8443', 'HTTP://[::1]:1'])(
    'is served when its target has the absolute form: %s',
    async (origin) => {
      const text = requestText(`${origin}${list}?limit=3`, [`Authorization: ${goodAuthorization}`])
      const { status, body } = parseRaw(await sendRaw(server.url, text))
      expect([status, JSON.parse(body)]).toEqual([200, { payments: [], nextCursor: null }])
      expect(service.calls.splice(0)).toEqual(['list {"limit":"3"}'])
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
