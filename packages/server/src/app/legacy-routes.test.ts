import { ChainError, InvalidLegacyRequestError, StoreError, TransactionNotFoundError } from '@payment-integration/core'
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

describe('the verify route', () => {
  it.each([
    undefined,
    ...[`${json}; charset=utf-8`, 'APPLICATION/JSON;charset="UTF-8"', 'text/plain;charset=UTF-8'],
    ...[`${json}; charset=utf8`, 'text/plain; charset="UTF8"', 'application.json', 'application/jsonx'],
    ...['application/x-www-form-urlencoded', 'application/json, text/plain', ' '],
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
    [new InvalidLegacyRequestError(flaws), 400, { error: 'Invalid request', details: flaws }],
    [new TransactionNotFoundError(), 404, { error: 'Transaction not found' }],
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
})
