import { ChainError, PaymentNotFoundError, StoreError } from '@payment-integration/core'
import { InvalidRequestError } from '@payment-integration/core/internal'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  chosenService,
  goodAuthorization,
  integrationAddress,
  withReads,
} from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'

let thrown: Error | null = null
const service = chosenService()
const reads = service.queries.forIntegration(integrationAddress)
const failing = withReads(service, {
  listPayments: (query) => (thrown ? Promise.reject(thrown) : reads.listPayments(query)),
  getPayment: (query) => (thrown ? Promise.reject(thrown) : reads.getPayment(query)),
})
const logged: unknown[] = []
const note = (fields: unknown, message: string) => logged.push({ fields, message })
const logger = { debug: note, info: note, warn: note, error: note }
let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp({ service: failing, logger })
})
afterAll(() => server.stop())
beforeEach(() => {
  thrown = null
  service.calls.length = 0
  logged.length = 0
})

const list = '/api/v1/integration/payments'
const get = (target: string) => fetch(`${server.url}${target}`, { headers: { authorization: goodAuthorization } })

describe('the list endpoints', () => {
  it.each([
    ['limit=1&limit=1', { error: 'limit is given more than once', maxLimit: 200 }],
    ['limit=1&lim%69t=2', { error: 'limit is given more than once', maxLimit: 200 }],
    ['limit=&limit=5', { error: 'limit is given more than once', maxLimit: 200 }],
    ['limit=%', { error: 'limit is not valid percent-encoding', maxLimit: 200 }],
    ['%zz=1', { error: 'Query string is not valid percent-encoding' }],
  ])('refuse the query %s with 400', async (query, body) => {
    const answer = await get(`${list}?${query}`)
    expect([answer.status, await answer.json()]).toEqual([400, body])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect(service.calls).toEqual([])
  })
})

describe('an error of a use case', () => {
  const rows: [Error, number, unknown][] = [
    [new InvalidRequestError('ERR_LIMIT_INVALID', 'limit bad'), 400, { error: 'limit bad', maxLimit: 200 }],
    [new InvalidRequestError('ERR_CURSOR_INVALID', 'cursor bad'), 400, { error: 'cursor bad' }],
    [new InvalidRequestError('ERR_TX_HASH_INVALID', 'hash bad'), 400, { error: 'hash bad' }],
    [new InvalidRequestError('ERR_ADDRESS_INVALID', 'address bad'), 400, { error: 'address bad' }],
    [new PaymentNotFoundError(), 404, { error: 'Payment not found' }],
    [new StoreError('ERR_STORE_BUSY', 'secret detail'), 503, { error: 'Service temporarily unavailable' }],
    [new StoreError('ERR_STORE_FULL', 'secret detail'), 503, { error: 'Service temporarily unavailable' }],
    [new StoreError('ERR_STORE_UNAVAILABLE', 'secret detail'), 503, { error: 'Service temporarily unavailable' }],
    [new ChainError('ERR_CHAIN_UNAVAILABLE', 1, 'secret detail'), 503, { error: 'Service temporarily unavailable' }],
    [new Error('secret detail'), 500, { error: 'Internal error' }],
    [Object.assign(new Error('secret detail'), { code: 'ERR_LIMIT_INVALID' }), 500, { error: 'Internal error' }],
    [Object.assign(new Error('secret detail'), { code: '__proto__' }), 500, { error: 'Internal error' }],
  ]
  it.each(rows)('%s is %i', async (error, status, body) => {
    thrown = error
    const answer = await get(list)
    expect([answer.status, await answer.json()]).toEqual([status, body])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    // No Retry-After for a fault that an operator must fix.
    const passes = status === 503 && !(error instanceof StoreError && error.code === 'ERR_STORE_FULL')
    expect(answer.headers.get('retry-after')).toBe(passes ? '1' : null)
  })

  it('is logged from 500 up, without its message', async () => {
    thrown = new Error('secret detail', { cause: new TypeError('secret cause') })
    await get(list)
    expect(logged).toEqual([
      {
        fields: expect.objectContaining({ status: 500, error: 'Error', causes: ['TypeError'] }),
        message: expect.any(String),
      },
    ])
    expect(JSON.stringify(logged)).not.toContain('secret')
    thrown = new PaymentNotFoundError()
    await get(list)
    expect(logged).toHaveLength(1)
  })
})

describe('a GET with a body', () => {
  it.each([
    [['Content-Length: 5'], 'hello'],
    [['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n'],
  ])('is refused with 400: %s', async (headers, body) => {
    const text = requestText(list, [`Authorization: ${goodAuthorization}`, ...headers], { body })
    const answer = parseRaw(await sendRaw(server.url, text))
    expect([answer.status, answer.body]).toEqual([400, '{"error":"This request takes no body; send none"}'])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })

  it('is accepted when the body is announced as empty', async () => {
    const text = requestText(list, [`Authorization: ${goodAuthorization}`, 'Content-Length: 0'])
    expect(parseRaw(await sendRaw(server.url, text)).status).toBe(200)
  })
})
