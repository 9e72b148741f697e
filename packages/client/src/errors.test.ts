import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { apiSecret, clientOf, encodedSecret, errorOf, hashOf, page, payment } from '../test/fixtures.js'
import type { Client } from './client.js'
import { type AnyClientError, isClientError } from './errors.js'
import type { ClientOptions, FetchFunction } from './options.js'

// A service, a proxy and a fetch that put the credentials wherever an error could pick them up.
const leak = `Basic ${encodedSecret} ${apiSecret}`
const leakHeaders = {
  authorization: `Basic ${encodedSecret}`,
  'x-echo': encodedSecret,
  location: `https://x/${encodedSecret}`,
}
const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): FetchFunction =>
  async () =>
    Response.json(body, { status, headers: { ...leakHeaders, ...headers }, statusText: encodedSecret })
const leakyError = (request: Request) =>
  Object.assign(new TypeError(leak, { cause: Object.assign(new Error(leak), { request, code: encodedSecret }) }), {
    request,
    code: apiSecret,
    config: { headers: leakHeaders },
  })
const never: FetchFunction = (request) =>
  new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(leakyError(request))))

const list = (client: Client) => client.payments.list()
const get = (client: Client) => client.payments.get(hashOf(1))
const walk = async (client: Client) => {
  for await (const _ of client.payments.iterate());
}
const aborted = (client: Client) => {
  const controller = new AbortController()
  setImmediate(() => controller.abort(new Error(leak)))
  return client.payments.list({ signal: controller.signal })
}

const cases: [
  AnyClientError['code'],
  string,
  FetchFunction,
  (client: Client) => Promise<unknown>,
  Partial<ClientOptions>?,
][] = [
  ['ERR_UNAUTHORIZED', '401', json(401, { error: leak }), list],
  ['ERR_INVALID_REQUEST', '400', json(400, { error: leak }), list],
  ['ERR_INVALID_REQUEST', '400 with maxLimit', json(400, { error: leak, maxLimit: 3, message: leak }), list],
  ['ERR_NOT_FOUND', '404', json(404, { error: leak }), get],
  ['ERR_AMBIGUOUS_PAYMENT', '409', json(409, { error: leak }), get],
  ['ERR_RATE_LIMITED', '429', json(429, { error: leak }, { 'retry-after': encodedSecret }), list],
  ['ERR_SERVICE_UNAVAILABLE', '503', json(503, { error: leak }, { 'retry-after': encodedSecret }), list],
  ['ERR_NETWORK', 'a rejected fetch', async (request) => Promise.reject(leakyError(request)), list],
  [
    'ERR_NETWORK',
    'a fetch that throws',
    (request) => {
      throw leakyError(request)
    },
    list,
  ],
  ['ERR_NETWORK', 'a fetch that throws a text', () => Promise.reject(leak), list],
  ['ERR_TIMEOUT', 'a slow try', never, list, { timeoutMs: 10 }],
  ['ERR_TIMEOUT', 'a slow call', never, list, { totalTimeoutMs: 10 }],
  ['ERR_ABORTED', 'an abort with a reason', never, aborted],
  ['ERR_INVALID_RESPONSE', 'not JSON', async () => new Response(leak), list],
  [
    'ERR_INVALID_RESPONSE',
    'the wrong shape',
    json(200, { payments: [{ ...payment(1), state: leak, [leak]: 1 }] }),
    list,
  ],
  ['ERR_INVALID_RESPONSE', 'a redirect', json(302, { error: leak }), list],
  ['ERR_INVALID_RESPONSE', 'an unknown status', json(418, { error: leak }), list],
  ['ERR_INVALID_RESPONSE', 'too large', json(200, { leak }), list, { maxResponseBytes: 5 }],
  ['ERR_INVALID_RESPONSE', 'a repeated cursor', json(200, page([], encodedSecret)), walk],
]

/** Everything that a logger, a console or an error tracker could make of an error. */
function everyForm(error: unknown): string {
  const forms: string[] = []
  for (let at = error, depth = 0; at !== undefined && depth < 10; at = (at as Error).cause, depth += 1) {
    const { message, stack, name } = at as Error
    forms.push(message, stack ?? '', name, String(at), JSON.stringify(at))
    forms.push(inspect(at, { depth: null, showHidden: true, getters: true }))
    for (const key of Reflect.ownKeys(at as object))
      forms.push(inspect(Reflect.get(at as object, key), { depth: null }))
    forms.push(inspect(structuredClone(at), { depth: null }))
  }
  return forms.join('\n')
}

describe('no form of an error shows the credentials', () => {
  test.each(cases)('%s: %s', async (code, _case, fetch, call, options) => {
    const error = await errorOf(call(clientOf('https://payments.example.com', { fetch, ...options })))
    expect(error).toMatchObject({ code })
    expect(isClientError(error)).toBe(true)
    expect(error).not.toHaveProperty('cause')
    const shown = everyForm(error)
    expect(shown).toContain(code)
    for (const secret of [apiSecret, encodedSecret, 'authorization', 'Basic '])
      expect(shown.toLowerCase()).not.toContain(secret.toLowerCase())
  })

  test('and every code is among the cases', () => {
    const codes: Record<AnyClientError['code'], true> = {
      ERR_UNAUTHORIZED: true,
      ERR_INVALID_REQUEST: true,
      ERR_NOT_FOUND: true,
      ERR_AMBIGUOUS_PAYMENT: true,
      ERR_RATE_LIMITED: true,
      ERR_SERVICE_UNAVAILABLE: true,
      ERR_NETWORK: true,
      ERR_TIMEOUT: true,
      ERR_ABORTED: true,
      ERR_INVALID_RESPONSE: true,
    }
    expect(new Set(cases.map(([code]) => code))).toEqual(new Set(Object.keys(codes)))
  })

  test('and the search would find them: an error that holds its request fails it', () => {
    const request = new Request('https://x', { headers: { authorization: `Basic ${encodedSecret}` } })
    const leaking = new Error('outer', { cause: Object.assign(new Error('inner'), { headers: [...request.headers] }) })
    expect(everyForm(leaking)).toContain(encodedSecret)
  })
})
