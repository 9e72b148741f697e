import { ChainError, LegacyRequestError, StoreError, UnknownTransactionError } from '@payment-integration/core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chosenService, legacyKey, txHash } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'

let thrown: Error | null = null
let verified = true
const service = chosenService()
const { legacy } = service
const chosen = {
  ...service,
  legacy: {
    lookup: (...input: Parameters<typeof legacy.lookup>) => (thrown ? Promise.reject(thrown) : legacy.lookup(...input)),
    verify: async (...input: Parameters<typeof legacy.verify>) => {
      if (thrown) throw thrown
      return { ...(await legacy.verify(...input)), verified }
    },
  },
}
const logged: unknown[] = []
const note = (fields: unknown, message: string) => logged.push({ fields, message })
const logger = { debug: note, info: note, warn: note, error: note }
let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp({ service: chosen, logger })
})
afterAll(() => server.stop())
beforeEach(() => {
  thrown = null
  verified = true
  service.calls.length = 0
  logged.length = 0
})

const lookup = `/api/v1/tx/1/${txHash}`
const verify = '/api/v1/verify'
const request = { chainId: 1, txHash, invoiceAmount: '10.50', invoiceCurrency: 'USD', address: 'shop' }
const result = { chainId: 1, txHash, payments: [] }
const authorization = `Bearer ${legacyKey}`
const json = 'application/json'
const get = (target: string) => fetch(`${server.url}${target}`, { headers: { authorization } })
const post = (body: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${verify}`, {
    method: 'POST',
    body,
    headers: { authorization, 'content-type': json, ...headers },
  })
const withDetail = (error: string) => ({ error, details: [{ code: 'invalid_request', message: error, path: [] }] })

describe('the look-up route', () => {
  it('passes both parameters on as unchecked strings', async () => {
    await get(lookup)
    await get(`/api/v1/tx/%31/${txHash.toUpperCase()}`)
    await get('/api/v1/tx/-1/%zz')
    expect(service.calls).toEqual([
      `lookup {"chainId":"1","txHash":"${txHash}"}`,
      `lookup {"chainId":"1","txHash":"${txHash.toUpperCase()}"}`,
      'lookup {"chainId":"-1","txHash":"%zz"}',
    ])
  })

  it.each([
    [['Content-Length: 5'], 'hello'],
    [['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n'],
  ])('refuses a body with 400 and a detail: %s', async (headers, body) => {
    const text = requestText(lookup, [`Authorization: ${authorization}`, ...headers], { body })
    const answer = parseRaw(await sendRaw(server.url, text))
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, withDetail('This request takes no body; send none')])
    expect(service.calls).toEqual([])
  })
})

describe('the verify route', () => {
  it('passes the request on and answers 200 when all payments match, else 409 with the same body', async () => {
    const matching = await post(JSON.stringify(request))
    verified = false
    const other = await post(JSON.stringify(request))
    expect([matching.status, await matching.json()]).toEqual([200, result])
    expect([other.status, await other.json()]).toEqual([409, result])
    expect(other.headers.get('cache-control')).toBe('private, no-store')
    expect(service.calls).toHaveLength(2)
    for (const call of service.calls) expect(JSON.parse(call.slice('verify '.length))).toEqual(request)
  })

  it.each([
    undefined,
    `${json}; charset=utf-8`,
    'APPLICATION/JSON;charset="UTF-8"',
    'text/plain;charset=UTF-8',
    `${json}; charset=utf8`,
    'text/plain; charset="UTF8"',
    'application.json',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'application/json, text/plain',
    ' ',
  ])('as %j is read, because its body is JSON', async (type) => {
    const body = JSON.stringify(request)
    const headers = [`Authorization: ${authorization}`, `Content-Length: ${Buffer.byteLength(body)}`]
    if (type !== undefined) headers.push(`Content-Type: ${type}`)
    const answer = parseRaw(await sendRaw(server.url, requestText(verify, headers, { method: 'POST', body })))
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, result])
  })

  it.each([undefined, json, 'text/plain', 'application.json', 'multipart/form-data; boundary=x'])(
    'as %j is 400 with details when its body is no JSON object',
    async (type) => {
      for (const [body, code, message] of [
        ['chainId=1', 'invalid_json', 'Body must be JSON in UTF-8'],
        ['', 'invalid_json', 'Body must be JSON in UTF-8'],
        ['\ufeff{}', 'invalid_json', 'Body begins with a byte order mark; send UTF-8 without it'],
        ['[]', 'invalid_type', 'Body must be a JSON object'],
      ] as const) {
        const headers = [`Authorization: ${authorization}`, `Content-Length: ${Buffer.byteLength(body)}`]
        if (type !== undefined) headers.push(`Content-Type: ${type}`)
        const answer = parseRaw(await sendRaw(server.url, requestText(verify, headers, { method: 'POST', body })))
        const details = [{ code, message, path: [] }]
        expect([answer.status, JSON.parse(answer.body)]).toEqual([400, { error: 'Invalid request', details }])
      }
      expect(service.calls).toEqual([])
    },
  )

  it.each([
    [{ 'content-type': `${json};charset=latin1` }, 'Content-Type must name no charset but utf-8'],
    [{ 'content-type': 'text/plain; charset="utf-16"' }, 'Content-Type must name no charset but utf-8'],
    [{ 'content-type': `${json}; charset=utf-8; charset=` }, 'Content-Type must name no charset but utf-8'],
    [{ 'content-encoding': 'gzip' }, 'Content-Encoding is not accepted; send the body as it is'],
    [{ 'content-encoding': 'identity' }, 'Content-Encoding is not accepted; send the body as it is'],
  ])('with %j is 400 with details, because another reader would read other text', async (headers, message) => {
    const answer = await post(JSON.stringify(request), headers)
    const details = [{ code: 'invalid_encoding', message, path: [] }]
    expect([answer.status, await answer.json()]).toEqual([400, { error: 'Invalid request', details }])
    expect(service.calls).toEqual([])
  })

  it('with two content types is 400 with a detail', async () => {
    const headers = [`Authorization: ${authorization}`, `Content-Type: ${json}`, `content-type: ${json}`]
    const answer = parseRaw(await sendRaw(server.url, requestText(verify, headers, { method: 'POST' })))
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      withDetail('Header content-type is given more than once'),
    ])
  })

  it('accepts exactly 16384 bytes and rejects one more', async () => {
    const padded = (size: number) => JSON.stringify(request).padEnd(size, ' ')
    expect((await post(padded(16_384))).status).toBe(200)
    const answer = await post(padded(16_385))
    expect([answer.status, await answer.json()]).toEqual([413, { error: 'Body is larger than 16384 bytes' }])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })

  it('rejects by the announced length before the body arrives', async () => {
    const headers = [`Authorization: ${authorization}`, `Content-Type: ${json}`, 'Content-Length: 100000000']
    expect(parseRaw(await sendRaw(server.url, requestText(verify, headers, { method: 'POST' }))).status).toBe(413)
  })
})

describe('an error of a legacy use case', () => {
  const flaws = [
    { code: 'invalid_format', message: 'first flaw', path: ['txHash'] },
    { code: 'invalid_type', message: 'second flaw', path: ['chainId'] },
  ]
  const rows: [Error, number, unknown][] = [
    [new LegacyRequestError(flaws), 400, { error: 'Invalid request', details: flaws }],
    [new UnknownTransactionError(), 404, { error: 'Transaction not found' }],
    [new StoreError('ERR_STORE_BUSY', 'secret detail'), 503, { error: 'Service temporarily unavailable' }],
    [new StoreError('ERR_STORE_FULL', 'secret detail'), 503, { error: 'Service temporarily unavailable' }],
    [new ChainError('ERR_CHAIN_UNAVAILABLE', 1, 'secret detail'), 503, { error: 'Service temporarily unavailable' }],
    [new Error('secret detail'), 500, { error: 'Internal error' }],
    [
      Object.assign(new Error('secret detail'), { code: 'ERR_LEGACY_REQUEST_INVALID' }),
      500,
      { error: 'Internal error' },
    ],
  ]
  it.each(rows)('%s is %i on both routes', async (error, status, body) => {
    thrown = error
    for (const answer of [await get(lookup), await post(JSON.stringify(request))]) {
      expect([answer.status, await answer.json()]).toEqual([status, body])
      expect(answer.headers.get('cache-control')).toBe('private, no-store')
    }
  })

  it('shows only code, message and path of a flaw', async () => {
    thrown = new LegacyRequestError([{ ...flaws[0], received: 'secret detail' } as unknown as (typeof flaws)[0]])
    expect(await (await get(lookup)).text()).toBe(
      JSON.stringify({ error: 'Invalid request', details: flaws.slice(0, 1) }),
    )
  })
})

describe('a method that a legacy route does not support', () => {
  it.each([
    ...['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, lookup, 'GET, HEAD, OPTIONS'] as const),
    ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, verify, 'POST, OPTIONS'] as const),
  ])('%s on %s is 405, naming the allowed ones', async (method, target, allow) => {
    const answer = await fetch(`${server.url}${target}`, { method, headers: { authorization } })
    expect([answer.status, await answer.json()]).toEqual([405, { error: 'Method not allowed' }])
    expect([answer.headers.get('allow'), answer.headers.get('cache-control')]).toEqual([allow, 'private, no-store'])
    expect(service.calls).toEqual([])
  })
})
