/** The road from an error code to status and body, and from a request to a use case, over HTTP. */
import {
  ChainError,
  InvalidLegacyRequestError,
  PaymentNotFoundError,
  StoreError,
  TransactionNotFoundError,
} from '@payment-integration/core'
import { InvalidParameterError } from '@payment-integration/core/internal'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { chosenService, goodAuthorization, legacyKey, txHash } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'

let thrown = new Error()
const fail = () => Promise.reject(thrown)
const service = chosenService({
  queries: { forIntegration: () => ({ listPayments: fail, getPayment: fail }) },
  legacy: { lookup: fail, verify: fail },
})
const logged: unknown[] = []
const note = (fields: unknown) => logged.push(fields)
const chosen = chosenService()
let failing: Awaited<ReturnType<typeof listenApp>>
let serving: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  failing = await listenApp({ service, logger: { debug: note, info: note, warn: note, error: note } })
  serving = await listenApp({ service: chosen })
})
afterAll(() => Promise.all([failing.stop(), serving.stop()]))
beforeEach(() => {
  logged.length = 0
  chosen.calls.length = 0
})

const list = '/api/v1/integration/payments'
const getList = () => fetch(`${failing.url}${list}`, { headers: { authorization: goodAuthorization } })
const headers = { authorization: legacyKey, 'content-type': 'application/json' }
const verify = (url: string, body: string) => fetch(`${url}/api/v1/verify`, { method: 'POST', body, headers })
const good = JSON.stringify({ chainId: 1, txHash, invoiceAmount: '1', invoiceCurrency: 'USD', address: 'shop' })
const askAll = () =>
  Promise.all([getList(), fetch(`${failing.url}/api/v1/tx/1/${txHash}`, { headers }), verify(failing.url, good)])

const details = [
  { code: 'invalid_format', message: 'first flaw', path: ['txHash'] },
  { code: 'invalid_type', message: 'second flaw', path: ['chainId'] },
]
const [unavailable, internal] = [{ error: 'Service temporarily unavailable' }, { error: 'Internal error' }]
const defect = () => new Error('secret detail')

it.each([
  ['ERR_LIMIT_INVALID', { error: 'bad', maxLimit: 200 }],
  ['ERR_CURSOR_INVALID', { error: 'bad' }],
  ['ERR_TX_HASH_INVALID', { error: 'bad' }],
  ['ERR_ADDRESS_INVALID', { error: 'bad' }],
] as const)('%s is 400 with %j in the read API', async (code, body) => {
  thrown = new InvalidParameterError(code, 'bad')
  const answer = await getList()
  expect([answer.status, await answer.json()]).toEqual([400, body])
})

it.each<[Error, number, object, string?]>([
  [new InvalidLegacyRequestError(details), 400, { error: 'Invalid request', details }],
  [new PaymentNotFoundError(), 404, { error: 'Payment not found' }],
  [new TransactionNotFoundError(), 404, { error: 'Transaction not found' }],
  [new StoreError('ERR_STORE_BUSY', 'secret detail'), 503, unavailable, '1'],
  [new StoreError('ERR_STORE_FULL', 'secret detail'), 503, unavailable],
  [new StoreError('ERR_STORE_UNAVAILABLE', 'secret detail'), 503, unavailable, '1'],
  [new ChainError('ERR_CHAIN_UNAVAILABLE', 1, 'secret detail'), 503, unavailable, '1'],
  [Object.assign(defect(), { code: 'ERR_LIMIT_INVALID' }), 500, internal],
  [Object.assign(defect(), { code: 'ERR_LEGACY_REQUEST_INVALID' }), 500, internal],
  [Object.assign(defect(), { code: '__proto__' }), 500, internal],
])('%s is %i on every route', async (error, status, body, retryAfter) => {
  thrown = error
  for (const answer of await askAll()) {
    expect([answer.status, await answer.json()]).toEqual([status, body])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect(answer.headers.get('retry-after')).toBe(retryAfter ?? null)
  }
})

it('an error is logged from 500 up, without its message', async () => {
  thrown = new Error('secret detail', { cause: new TypeError('secret cause') })
  await getList()
  expect(logged).toEqual([expect.objectContaining({ status: 500, error: 'Error', causes: ['TypeError'] })])
  expect(JSON.stringify(logged)).not.toContain('secret')
  thrown = new PaymentNotFoundError()
  await getList()
  expect(logged).toHaveLength(1)
})

it('a body of verify has 16384 bytes at most, announced or sent', async () => {
  expect((await verify(serving.url, good.padEnd(16_384))).status).toBe(200)
  const answer = await verify(serving.url, good.padEnd(16_385))
  expect([answer.status, await answer.json()]).toEqual([413, { error: 'Body is larger than 16384 bytes' }])
  expect(answer.headers.get('cache-control')).toBe('private, no-store')
  const announced = [`Authorization: ${legacyKey}`, 'Content-Type: application/json', 'Content-Length: 100000000']
  const text = requestText('/api/v1/verify', announced, { method: 'POST' })
  expect(parseRaw(await sendRaw(serving.url, text)).status).toBe(413)
})

const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const ask = (method: string, headers: Record<string, string> = {}) =>
  fetch(`${serving.url}${list}`, { method, headers })

it.each(methods)('%s is 401 without valid credentials', async (method) => {
  const answer = await ask(method)
  expect([answer.status, await answer.text()]).toEqual([401, '{"error":"Unauthorized"}'])
})

it.each([
  [list, goodAuthorization],
  [`/api/v1/tx/1/${txHash}`, legacyKey],
])('a repeated Authorization is 401 on %s, also if the host passes on only the first', async (path, authorization) => {
  const all = ['Authorization', authorization, 'authorization', 'Basic eDp5']
  const request = () => new Request(`${serving.url}${path}`, { headers: { authorization } })
  const fetched = (rawHeaders: readonly string[]) => serving.app.fetch(request(), { incoming: { rawHeaders } })
  expect((await fetched(all.slice(0, 2))).status).toBe(200)
  expect(chosen.calls.splice(0)).toHaveLength(1)
  expect((await fetched(all)).status).toBe(401)
  expect(chosen.calls).toEqual([])
})

it.each(methods)('%s with valid credentials names the allowed methods: 405, and 204 to OPTIONS', async (method) => {
  const answer = await ask(method, { authorization: goodAuthorization })
  const expected = method === 'OPTIONS' ? [204, ''] : [405, '{"error":"Method not allowed"}']
  expect([answer.status, await answer.text()]).toEqual(expected)
  expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  expect(answer.headers.get('cache-control')).toBe('private, no-store')
})
