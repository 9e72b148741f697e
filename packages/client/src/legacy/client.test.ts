import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { catchError, hashOf, type Reply, serveReplies } from '../../test/fixtures.js'
import { apiKey, getLegacyClient, invoice, lookup, receiver, txHash, verified } from '../../test/legacy-fixtures.js'
import {
  checkLegacyOptions,
  createLegacyClient,
  type LegacyClient,
  type LegacyClientOptions,
  repeatsSecret,
} from './client.js'

const upperHash = `0x${txHash.slice(2).toUpperCase()}`

/** The result or the error of a call, for a client of a server with these answers. */
async function against<T>(replies: readonly [Reply, ...Reply[]], call: (client: LegacyClient) => Promise<T>) {
  await using server = await serveReplies(...replies)
  const outcome = await call(getLegacyClient(server.url)).catch((error: unknown) => error)
  return { outcome, requests: server.requests }
}

describe('a look-up', () => {
  test('is a GET of its path with the bare key, and resolves the answer with unknown fields', async () => {
    const newer = { ...lookup({}, { memo: '', fees: [], final: false }), blockNumber: 5 }
    const { outcome, requests } = await against([{ body: newer }], (client) =>
      client.lookup({ chainId: 137, txHash: upperHash }),
    )
    expect(outcome).toEqual(newer)
    expect(requests).toEqual([expect.objectContaining({ method: 'GET', url: `/api/v1/tx/137/${txHash}`, body: '' })])
    expect(requests[0]?.headers).toMatchObject({ authorization: apiKey, accept: 'application/json' })
    expect(requests[0]?.headers).not.toHaveProperty('content-type')
  })

  test('sends the key after Bearer with the option bearer', async () => {
    await using server = await serveReplies({ body: lookup() })
    await getLegacyClient(`${server.url}/prefix/`, { bearer: true }).lookup(invoice)
    expect(server.requests[0]?.headers['authorization']).toBe(`Bearer ${apiKey}`)
    expect(server.requests[0]?.url).toBe(`/prefix/api/v1/tx/137/${txHash}`)
  })

  test('accepts the hash of the answer in any case', async () => {
    const answer = { ...lookup(), txHash: upperHash }
    const { outcome } = await against([{ body: answer }], (client) => client.lookup(invoice))
    expect(outcome).toMatchObject({ txHash: upperHash })
  })

  test.each<[string, object, object]>([
    ['another transaction', { txHash: hashOf(1) }, { reason: 'mismatch', path: 'txHash' }],
    ['another chain', { chainId: 1 }, { reason: 'mismatch', path: 'chainId' }],
    ['an empty list of payments', { payments: [] }, { reason: 'contradiction', path: 'payments' }],
    ['a chain id that is text', { chainId: '137' }, { reason: 'schema', path: 'chainId' }],
    ['a missing list of payments', { payments: undefined }, { reason: 'schema', path: 'payments' }],
  ])('does not accept %s', async (_case, change, expected) => {
    const { outcome } = await against([{ body: { ...lookup(), ...change } }], (client) => client.lookup(invoice))
    expect(outcome).toMatchObject({ code: 'ERR_RESPONSE_INVALID', status: 200, ...expected })
  })
})

describe('a verification', () => {
  test('is a POST of the invoice as JSON, the amount as text, and resolves the answer', async () => {
    const both = verified({}, { memo: 'order-8' })
    const { outcome, requests } = await against([{ body: both }], (client) =>
      client.verify({ ...invoice, txHash: upperHash, invoiceAmount: 1e-7 }),
    )
    expect(outcome).toEqual(both)
    expect(requests).toEqual([expect.objectContaining({ method: 'POST', url: '/api/v1/verify' })])
    expect(requests[0]?.headers).toMatchObject({ authorization: apiKey, 'content-type': 'application/json' })
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ ...invoice, invoiceAmount: '0.0000001' })
  })

  test('sends only the five fields of the payload', async () => {
    const payload = { ...invoice, apiSecret: 'from a spread', final: true }
    const { requests } = await against([{ body: verified() }], (client) => client.verify(payload))
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual(invoice)
  })

  test.each(['mara.shop', 'x'.repeat(128), '0xABCDEF0123456789ABCDEF0123456789ABCDEF01'])(
    'leaves %s to the service',
    async (address) => {
      const { requests } = await against([{ body: verified() }], (client) => client.verify({ ...invoice, address }))
      expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ address })
    },
  )

  test('that fails has the result and each distinct reason once', async () => {
    const result = verified(
      { verified: false, verificationErrors: ['Invalid payment amount', 'Invalid payment currency'] },
      {},
      { verified: false, verificationErrors: ['Invalid payment address', 'Invalid payment amount'] },
    )
    const { outcome, requests } = await against([{ status: 409, body: result }], (client) => client.verify(invoice))
    expect(outcome).toMatchObject({
      code: 'ERR_VERIFICATION_FAILED',
      retryable: false,
      result,
      verificationErrors: ['Invalid payment amount', 'Invalid payment currency', 'Invalid payment address'],
    })
    expect((outcome as Error).message).toBe(
      '2 of 3 payments in the transaction do not match the invoice (409): Invalid payment address, Invalid payment currency, Invalid payment amount. Do not deliver.',
    )
    expect(requests).toHaveLength(1)
  })

  test('that fails for an unknown reason keeps it, and omits it from the message', async () => {
    const flawed = { ...verified().payments[0], verified: false, verificationErrors: ['a\nb'] }
    const body = { ...verified(), payments: [flawed] }
    const { outcome } = await against([{ status: 409, body }], (client) => client.verify(invoice))
    expect(outcome).toMatchObject({ code: 'ERR_VERIFICATION_FAILED', verificationErrors: ['a\nb'] })
    expect((outcome as Error).message).not.toContain('\n')
  })

  const contradiction = { reason: 'contradiction' }
  const wrong = { verified: false, verificationErrors: ['Invalid payment amount' as const] }
  test.each<[string, number, object, object]>([
    ['an unverified payment', 200, verified({}, wrong), { reason: 'contradiction', path: 'payments' }],
    ['a verified payment with a reason against it', 200, verified({ ...wrong, verified: true }), contradiction],
    ['an unverified payment without a reason', 200, verified({ ...wrong, verificationErrors: [] }), contradiction],
    ['no payment', 200, { ...verified(), payments: [] }, { reason: 'contradiction', path: 'payments' }],
    ['no verdict', 200, lookup(), { reason: 'schema', path: 'payments.0.verified' }],
    ['another transaction', 200, { ...verified(), txHash: hashOf(1) }, { reason: 'mismatch', path: 'txHash' }],
    ['all verified in a 409', 409, verified({}, {}), { reason: 'contradiction', path: 'payments' }],
    ['no payment in a 409', 409, { ...verified(), payments: [] }, { reason: 'contradiction' }],
    ['another transaction in a 409', 409, { ...verified(wrong), txHash: hashOf(1) }, { reason: 'mismatch' }],
    ['another chain in a 409', 409, { ...verified(wrong), chainId: 1 }, { reason: 'mismatch', path: 'chainId' }],
    ['no verdict in a 409', 409, lookup(), { reason: 'status' }],
    ['an error text in a 409', 409, { error: 'Conflict' }, { reason: 'status' }],
  ])('does not accept %s', async (_case, status, body, expected) => {
    const { outcome, requests } = await against([{ status, body }], (client) => client.verify(invoice))
    expect(outcome).toMatchObject({ code: 'ERR_RESPONSE_INVALID', status, ...expected })
    expect(requests).toHaveLength(1)
  })
})

describe.each<[string, (client: LegacyClient) => Promise<unknown>, object]>([
  ['a look-up', (client) => client.lookup(invoice), lookup()],
  ['a verification', (client) => client.verify(invoice), verified()],
])('%s', (_name, call, good) => {
  const details = [
    { code: 'invalid_string', message: 'must start with 0x and have 64 hex digits after it', path: ['txHash'] },
    { code: 'too_big', message: 'too large', path: [] },
  ]
  test.each<[number, unknown, object]>([
    [400, { error: 'Invalid request', details }, { code: 'ERR_LEGACY_REQUEST_INVALID', retryable: false, details }],
    [400, { error: 'Invalid request' }, { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 400 }],
    [401, { error: 'Unauthorized' }, { code: 'ERR_UNAUTHORIZED', retryable: false }],
    [401, '<html>', { code: 'ERR_UNAUTHORIZED' }],
    [404, { error: 'Transaction not found' }, { code: 'ERR_TRANSACTION_NOT_FOUND', chainId: 137, txHash }],
    [404, { error: 'Not found' }, { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 404 }],
    [404, '<html>', { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 404 }],
    [413, { error: 'Too large' }, { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 413 }],
    [500, { error: 'Internal error' }, { code: 'ERR_SERVICE_UNAVAILABLE', status: 500, retryable: true }],
  ])('answered with %i %j is not retried', async (status, body, expected) => {
    const { outcome, requests } = await against([{ status, body }, { body: good }], call)
    expect(outcome).toMatchObject(expected)
    expect(requests).toHaveLength(1)
  })

  test('with a rejected key names the option, and no integration', async () => {
    const { outcome } = await against([{ status: 401, body: { error: 'Unauthorized' } }], call)
    expect((outcome as Error).message).toContain('Check apiKey')
    expect((outcome as Error).message).not.toContain('integrationAddress')
  })
})

test('of the details of a 400, the error keeps the three fields of the contract', async () => {
  const flaw = { code: 'custom', message: 'is not a chain', path: ['chainId'] }
  const body = { error: 'Invalid request', details: [{ ...flaw, received: 'something of the request' }] }
  const { outcome } = await against([{ status: 400, body }], (client) => client.lookup(invoice))
  expect(outcome).toHaveProperty('details', [flaw])
})

test.each([lookup(), { error: 'Conflict' }, '<html>'])(
  'a 409 on a verification with a foreign body, %#, is reported as a wrong body, not as a wrong status',
  async (body) => {
    const { outcome } = await against([{ status: 409, body }], (client) => client.verify(invoice))
    expect((outcome as Error).message).toBe(
      'The answer is not one of the payment service (409): the contract has no such status with such a body. Check baseUrl and any proxy before the service.',
    )
  },
)

test('a 409 on a look-up breaks the contract', async () => {
  const { outcome } = await against([{ status: 409, body: verified() }], (client) => client.lookup(invoice))
  expect(outcome).toMatchObject({ code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 409 })
})

describe('a malformed argument is rejected before any request', () => {
  const client = getLegacyClient('http://localhost:1', { fetch: () => Promise.reject(new Error('something was sent')) })
  // biome-ignore lint/suspicious/noExplicitAny: the types reject these values, a JavaScript caller may still pass them
  const bad: any = (value: unknown) => value
  const both = async (change: object) => [
    await catchError(client.lookup(bad({ ...invoice, ...change }))),
    await catchError(client.verify(bad({ ...invoice, ...change }))),
  ]

  test.each([0, -1, 1.5, Number.NaN, 1e15, Number.MAX_SAFE_INTEGER])('chainId %d', async (chainId) => {
    for (const error of await both({ chainId })) expect(error).toBeInstanceOf(RangeError)
  })

  test.each(['', txHash.slice(2), `${txHash}0`, `${txHash}\n`, '../verify', null])('txHash %j', async (hash) => {
    for (const error of await both({ txHash: hash }))
      expect((error as Error).message).toMatch(/^txHash is not a transaction hash/)
  })

  test.each<[string, unknown, typeof TypeError | typeof RangeError, RegExp]>([
    ['address', 'x'.repeat(129), RangeError, /^address has 129 characters; pass an address or an account handle, 128/],
    ['invoiceCurrency', 'chf', TypeError, /lowercase/],
    ['invoiceCurrency', '', TypeError, /missing or blank/],
    ['invoiceCurrency', 'CHF ', TypeError, /white space/],
    ['invoiceCurrency', 756, TypeError, /missing or blank/],
    ['address', undefined, TypeError, /missing or blank/],
    ['address', ' \t', TypeError, /missing or blank/],
    ['address', `${receiver}\n`, TypeError, /white space/],
    ['invoiceAmount', undefined, TypeError, /of type undefined/],
    ['invoiceAmount', 10n, TypeError, /of type bigint/],
    ['invoiceAmount', '1e3', TypeError, /no plain decimal/],
  ])('%s %s', async (name, value, kind, message) => {
    const error = await catchError(client.verify(bad({ ...invoice, [name]: value })))
    expect(error).toBeInstanceOf(kind)
    expect((error as Error).message).toMatch(message)
    expect((error as Error).message).toContain(name)
  })
})

const secret = 'pi_legacy_"\\/0123456789'

test.each<[string, unknown]>([
  ['as a text', secret],
  ['inside a text', `key ${secret}!`],
  ['deep in a list', { details: [{ path: ['chainId', `x${secret}`] }] }],
  ['as the name of a field', { [secret]: 1 }],
  ['in escapes', JSON.parse(`"${[...secret].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join('')}"`)],
])('finds the secret %s', (_case, body) => expect(repeatsSecret(body, secret)).toBe(true))

test('finds nothing in a body without it', () => {
  expect(repeatsSecret({ error: 'Invalid', details: [secret.slice(1), secret.slice(0, -1)] }, secret)).toBe(false)
})

test('looks for a secret of 16 characters, not for one of 15', () => {
  const text = 'x'.repeat(16)
  expect(repeatsSecret({ memo: text }, text)).toBe(true)
  expect(repeatsSecret({ memo: text }, text.slice(1))).toBe(false)
})

const validOptions = { baseUrl: 'https://payments.example.com', apiKey } satisfies LegacyClientOptions

test('the bare key is the default, and the transport has its own defaults', () => {
  expect(checkLegacyOptions(validOptions)).toMatchObject({ apiKey, bearer: false, maxRetries: 2 })
  expect(checkLegacyOptions({ ...validOptions, bearer: undefined, maxRetries: 0 })).toMatchObject({
    bearer: false,
    maxRetries: 0,
  })
})

test.each<[string, Record<string, unknown>, RegExp]>([
  ['no key', { apiKey: undefined }, /apiKey is missing or blank/],
  ['a key that is no text', { apiKey: 42 }, /apiKey is missing or blank/],
  ['a blank key', { apiKey: ' \t' }, /apiKey is missing or blank/],
  ['a key with a line break at its end', { apiKey: `${apiKey}\n` }, /apiKey begins or ends with white space/],
  ['a key with its scheme', { apiKey: `Bearer ${apiKey}` }, /pass the bare key/],
  ['a key with a line break inside', { apiKey: 'a\r\nb' }, /printable ASCII/],
  ['a key beyond ASCII', { apiKey: 'clé' }, /printable ASCII/],
  ['a scheme by name', { bearer: 'Bearer' }, /bearer is of type string/],
  ['null for bearer', { bearer: null }, /bearer is of type object/],
  ['no base URL', { baseUrl: undefined }, /baseUrl is of type undefined/],
  ['the key in the place of the base URL', { baseUrl: apiKey }, /baseUrl is not an absolute URL/],
])('rejects %s, and no message repeats the key', (_case, change, message) => {
  const options = { ...validOptions, ...change } as unknown as LegacyClientOptions
  expect(() => createLegacyClient(options)).toThrow(TypeError)
  expect(() => createLegacyClient(options)).toThrow(message)
  try {
    createLegacyClient(options)
  } catch (error) {
    expect(inspect(error)).not.toContain(apiKey)
  }
})
