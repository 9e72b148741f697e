import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { catchError, getClient, hashOf, page, payment, wallet } from '../test/fixtures.js'
import { isClientError } from './any-error.js'
import type { ClientOptions } from './client.js'

const baseUrl = 'https://payments.example.com'
const listUrl = `${baseUrl}/api/v1/integration/payments`
const server = setupServer()
const { payments, wallet: ofWallet } = getClient(baseUrl)
const mismatch = { code: 'ERR_RESPONSE_INVALID', reason: 'mismatch', status: 200 }

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterEach(() => server.resetHandlers())
afterAll(() => server.close())

/** Answers requests with these in turn, then always with the last. Returns the number of requests so far. */
function respond(...answers: (() => Response | Promise<Response>)[]): () => number {
  let count = 0
  const next = () => {
    const make = answers[Math.min(count, answers.length - 1)]
    count += 1
    return make?.()
  }
  server.use(http.get(listUrl, next), http.get(`${baseUrl}/api/v1/integration/*`, next))
  return () => count
}
const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  () =>
    HttpResponse.json(body as never, { status, headers })
const text =
  (body: string | null, status = 200) =>
  () =>
    new HttpResponse(body, { status })

test.each<[number, unknown, object]>([
  [
    400,
    { error: 'cursor must be the nextCursor of a page of this list, unchanged' },
    { code: 'ERR_REQUEST_INVALID', maxLimit: null },
  ],
  [400, { error: 'Invalid limit', maxLimit: 100 }, { code: 'ERR_REQUEST_INVALID', maxLimit: 100 }],
  [401, { error: 'Unauthorized' }, { code: 'ERR_UNAUTHORIZED', retryable: false }],
  [500, { error: 'Internal error' }, { code: 'ERR_SERVICE_UNAVAILABLE', status: 500, retryable: true }],
  [403, { error: 'Forbidden' }, { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 403 }],
  [404, { error: 'Not found' }, { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 404 }],
  [409, { error: 'Conflict' }, { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 409 }],
  [201, page([1]), { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 201 }],
])('the client does not retry after %i %j on a list', async (status, body, expected) => {
  const count = respond(json(body, status))
  expect(await catchError(payments.list())).toMatchObject(expected)
  expect(count()).toBe(1)
})

describe('a look-up', () => {
  test('of a missing payment names it', async () => {
    respond(json({ error: 'Payment not found' }, 404))
    const missing = { code: 'ERR_PAYMENT_NOT_FOUND', txHash: hashOf(7) }
    expect(await catchError(payments.get(hashOf(7)))).toMatchObject({ ...missing, wallet: null })
    expect(await catchError(ofWallet(wallet).get(hashOf(7)))).toMatchObject({ ...missing, wallet })
  })

  test('of a hash on two chains names the wallet-scoped call', async () => {
    respond(json({ error: 'Ambiguous' }, 409))
    const error = await catchError(payments.get(hashOf(7)))
    expect(error).toMatchObject({ code: 'ERR_PAYMENT_AMBIGUOUS', txHash: hashOf(7), wallet: null })
    expect((error as Error).message).toContain(`client.wallet(address).get('${hashOf(7)}')`)
    const narrowed = await catchError(ofWallet(wallet).get(hashOf(7)))
    expect((narrowed as Error).message).toContain(`client.wallet('${wallet}').iterate()`)
  })

  test('at an unknown path does not report a missing payment', async () => {
    respond(json({ error: 'Not found' }, 404))
    for (const call of [payments.get(hashOf(1)), ofWallet(wallet).get(hashOf(1))])
      expect(await catchError(call)).toMatchObject({ code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 404 })
  })

  test.each([400, 404, 409])('does not accept a %i with a foreign body', async (status) => {
    respond(text('<h1>nginx</h1>', status))
    const invalid = { code: 'ERR_RESPONSE_INVALID', reason: 'status', status }
    expect(await catchError(payments.get(hashOf(1)))).toMatchObject(invalid)
  })

  test('does not accept another payment, or one of another integration', async () => {
    const stranger = payment(1, { integrationAddress: '0x9999999999999999999999999999999999999999' })
    respond(json(payment(2)), json(stranger), json({ payments: [payment(1), stranger], nextCursor: null }))
    expect(await catchError(payments.get(hashOf(1)))).toMatchObject({ ...mismatch, path: 'txHash' })
    expect(await catchError(payments.get(hashOf(1)))).toMatchObject({ ...mismatch, path: 'integrationAddress' })
    expect(await catchError(payments.list())).toMatchObject({ ...mismatch, path: 'payments.1.integrationAddress' })
  })
})

describe('an answer in the scope of a wallet', () => {
  const other = '0x4444444444444444444444444444444444444444'
  const sent = payment(1, { sender: wallet, receiver: other })
  const received = payment(2, { sender: other, receiver: wallet })
  const neither = payment(3, { sender: other, receiver: other })

  test('is accepted when the wallet is the sender or the receiver', async () => {
    const both = { payments: [sent, received], nextCursor: null }
    respond(json(both), json(received), json(sent))
    const reader = ofWallet(wallet)
    expect(await reader.list()).toEqual(both)
    expect(await reader.get(received.txHash)).toEqual(received)
    expect(await reader.get(sent.txHash)).toEqual(sent)
  })

  test('is rejected when the wallet is neither sender nor receiver', async () => {
    respond(json({ payments: [sent, neither], nextCursor: null }), json(neither))
    const reader = ofWallet(wallet)
    expect(await catchError(reader.list())).toMatchObject({ ...mismatch, path: 'payments.1' })
    expect(await catchError(reader.get(neither.txHash))).toMatchObject({ ...mismatch, path: '' })
  })

  test('is accepted for any wallet without a wallet scope', async () => {
    respond(json(neither))
    expect(await payments.get(neither.txHash)).toEqual(neither)
  })
})

test('a page longer than the requested limit is rejected; a page at the limit is not', async () => {
  respond(json(page([1, 2, 3])))
  expect(await catchError(payments.list({ limit: 2 }))).toMatchObject({ ...mismatch, path: 'payments' })
  expect((await payments.list({ limit: 3 })).payments).toHaveLength(3)
  expect((await payments.list()).payments).toHaveLength(3)
})

describe('a malformed answer is rejected', () => {
  const cut = JSON.stringify(page([1])).slice(0, -20)
  const flawed = { ...payment(2), tokenIn: { ...payment(2).tokenIn, amount: 1.5 } }
  const withNumber = { payments: [payment(1), flawed], nextCursor: null }
  test.each<[string, () => Response, object]>([
    ['cut JSON', text(cut), { reason: 'not_json' }],
    ['an empty body', text(null), { reason: 'not_json' }],
    ['HTML', text('<html></html>'), { reason: 'not_json' }],
    ['bytes that are not UTF-8', () => new HttpResponse(new Uint8Array([0x22, 0xff, 0x22])), { reason: 'not_json' }],
    ['null', json(null), { reason: 'schema', path: '' }],
    ['an array', json([payment(1)]), { reason: 'schema', path: '' }],
    ['a payment instead of a page', json(payment(1)), { reason: 'schema', path: 'payments' }],
    ['a missing cursor', json({ payments: [] }), { reason: 'schema', path: 'nextCursor' }],
    ['an amount that is a number', json(withNumber), { reason: 'schema', path: 'payments.1.tokenIn.amount' }],
  ])('%s', async (_case, make, expected) => {
    const count = respond(make)
    const error = await catchError(payments.list())
    expect(error).toMatchObject({ code: 'ERR_RESPONSE_INVALID', retryable: false, status: 200, ...expected })
    expect(count()).toBe(1)
  })

  test('a body longer than maxResponseBytes, at the byte', async () => {
    const body = JSON.stringify(page([1, 2]))
    const size = new TextEncoder().encode(body).byteLength
    respond(text(body))
    await expect(getClient(baseUrl, { maxResponseBytes: size }).payments.list()).resolves.toEqual(page([1, 2]))
    const error = await catchError(getClient(baseUrl, { maxResponseBytes: size - 1 }).payments.list())
    expect(error).toMatchObject({ code: 'ERR_RESPONSE_INVALID', reason: 'too_large' })
  })
})

test('isClientError recognizes the errors of this package and no others', async () => {
  respond(json({ error: 'Unauthorized' }, 401))
  expect(isClientError(await catchError(payments.list()))).toBe(true)
  expect(isClientError(new TypeError('x'))).toBe(false)
  expect(isClientError(Object.assign(new Error('x'), { code: 'ERR_TIMEOUT' }))).toBe(false)
  expect(isClientError({ name: 'TimeoutError', code: 'ERR_TIMEOUT' })).toBe(false)
  expect(isClientError(Object.assign(new Error('x'), { name: 'toString', code: 'toString' }))).toBe(false)
})

describe("an error of the caller's own functions is rethrown unchanged and not retried", () => {
  const bug = new ReferenceError('clock is not defined')
  const fail = () => {
    throw bug
  }

  test.each<[string, Partial<ClientOptions>]>([
    ['random', { random: fail }],
    ['clock', { clock: { now: fail } }],
    ['clock, while parsing Retry-After', { clock: { now: failingAfter(1) } }],
  ])('%s', async (_name, options) => {
    const count = respond(json({}, 503, { 'retry-after': '0' }))
    expect(await catchError(getClient(baseUrl, options).payments.list())).toBe(bug)
    expect(count()).toBeLessThanOrEqual(1)
  })

  test('a fetch that resolves no Response', async () => {
    const fetch = async () => undefined as unknown as Response
    expect(await catchError(getClient(baseUrl, { fetch }).payments.list())).toBeInstanceOf(TypeError)
  })

  /** A clock that fails after this many calls. */
  function failingAfter(times: number): () => number {
    let calls = 0
    return () => {
      calls += 1
      return calls > times ? fail() : 0
    }
  }
})
