import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chosenService, goodAuthorization, legacyKey, txHash } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'

const service = chosenService()
let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp({ service })
})
afterAll(() => server.stop())

const list = '/api/v1/integration/payments'
const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const ask = (method: string, headers: Record<string, string> = {}) => fetch(`${server.url}${list}`, { method, headers })

it.each(methods)('%s is 401 without valid credentials', async (method) => {
  const answer = await ask(method)
  expect([answer.status, await answer.text()]).toEqual([401, '{"error":"Unauthorized"}'])
})

it.each([
  [list, goodAuthorization],
  [`/api/v1/tx/1/${txHash}`, legacyKey],
])(
  'a repeated Authorization is 401 on %s, also when the host passes only the first one to the app',
  async (path, authorization) => {
    const rawHeaders = ['Authorization', authorization, 'authorization', 'Basic eDp5']
    const fetched = (given: readonly string[]) =>
      server.app.fetch(new Request(`${server.url}${path}`, { headers: { authorization } }), {
        incoming: { rawHeaders: given },
      })
    expect((await fetched(rawHeaders.slice(0, 2))).status).toBe(200)
    expect(service.calls.splice(0)).toHaveLength(1)
    expect((await fetched(rawHeaders)).status).toBe(401)
    expect(service.calls).toEqual([])
  },
)

describe('with valid credentials', () => {
  it.each(methods.slice(0, 4))('%s is 405, naming the allowed methods', async (method) => {
    const answer = await ask(method, { authorization: goodAuthorization })
    expect([answer.status, await answer.json()]).toEqual([405, { error: 'Method not allowed' }])
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })

  it('OPTIONS is 204, naming the allowed methods', async () => {
    const answer = await ask('OPTIONS', { authorization: goodAuthorization })
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
  })
})
