import type { ShareRequest } from '@payment-integration/contract'
import {
  formatShareRejection,
  identityMisconfiguredBody,
  identityUnavailableBody,
  notFoundBody,
  sharingDisabledBody,
  unauthorizedBody,
  verificationUnavailableBody,
} from '@payment-integration/contract/internal'
import { describe, expect, test } from 'vitest'
import { catchError, encodedSecret, getClient, type Reply, serve, serveReplies } from '../../test/fixtures.js'
import { email, kycShareToken, rejection, shareResponse, submission } from '../../test/share-fixtures.js'
import type { ClientOptions } from '../client.js'

const share = (url: string, options?: Partial<ClientOptions>) => getClient(url, options).identity.share(submission)
const redeemed = shareResponse()
const json = 'application/json'
const answered = { kind: 'in_flight', status: 'init', redeemed: true, response: redeemed }

test('a share is one POST of the two fields, verbatim, with Basic credentials', async () => {
  await using server = await serveReplies({ body: redeemed })
  const more = { ...submission, note: 'for nobody else' }
  expect(await getClient(`${server.url}/prefix/`).identity.share(more)).toEqual(answered)
  expect(server.requests).toHaveLength(1)
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    url: '/prefix/api/v1/integration/idv-share-token',
    headers: { authorization: `Basic ${encodedSecret}`, 'content-type': json, accept: json },
  })
  expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({ email, kycShareToken })
})

describe('a rejection is not retried', () => {
  test.each<[number, unknown, object]>([
    [400, { error: 'email must be a valid email address' }, { code: 'ERR_SHARE_REQUEST_INVALID', retryable: false }],
    [401, unauthorizedBody, { code: 'ERR_UNAUTHORIZED', retryable: false }],
    [404, sharingDisabledBody, { code: 'ERR_SHARING_DISABLED', retryable: false }],
    [404, notFoundBody, { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 404 }],
    [409, { ...verificationUnavailableBody, more: 1 }, { code: 'ERR_VERIFICATION_UNAVAILABLE', retryable: false }],
    [409, { error: 'Conflict' }, { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 409 }],
    [413, { error: 'Body is larger' }, { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 413 }],
    [422, { error: 'no message' }, { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 422 }],
    [500, { error: 'Internal error' }, { code: 'ERR_SERVICE_UNAVAILABLE', status: 500, retryable: true }],
    [502, identityMisconfiguredBody, { code: 'ERR_IDENTITY_MISCONFIGURED', retryable: false }],
    [200, { ...redeemed, reviewStatus: 7 }, { code: 'ERR_RESPONSE_INVALID', reason: 'schema', path: 'reviewStatus' }],
    [200, { ...redeemed, reused: undefined }, { code: 'ERR_RESPONSE_INVALID', reason: 'schema', path: 'reused' }],
    [201, redeemed, { code: 'ERR_RESPONSE_INVALID', reason: 'status', status: 201 }],
  ])('%i %j', async (status, body, expected) => {
    await using server = await serveReplies({ status, body })
    expect(await catchError(share(server.url))).toMatchObject(expected)
    expect(server.requests).toHaveLength(1)
  })

  test.each([400, 404, 409, 422])('a %i that is a page of a proxy', async (status) => {
    await using server = await serve((_, response) => response.writeHead(status).end('<h1>nginx</h1>'))
    const invalid = { code: 'ERR_RESPONSE_INVALID', reason: 'status', status }
    expect(await catchError(share(server.url))).toMatchObject(invalid)
  })
})

describe('a rejected token', () => {
  const message = 'Token is invalid: Token 65f2 created at 10:00 with ttl 1200 but accessed at 10:30'

  test("has the provider's message and the advice to mint a fresh one", async () => {
    await using server = await serveReplies({ status: 422, body: rejection(message) })
    const error = await catchError(share(server.url))
    const facts = { retryable: false, providerMessage: message, formerVerdict: null }
    expect(error).toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED', ...facts })
    expect((error as Error).message).toContain('Mint a fresh token')
    expect((error as Error).message).not.toContain('65f2')
    expect(server.requests).toHaveLength(1)
  })

  test.each([
    ['FINAL', 'stop'],
    ['RETRY', 'Mint a fresh token'],
    [null, 'Mint a fresh token'],
  ] as const)('brings the former verdict, here of type %s, and the advice %j', async (rejectType, advice) => {
    const providerMessage = formatShareRejection(message, { rejectType, rejectLabels: ['FORGERY'] })
    await using server = await serveReplies({ status: 422, body: rejection(providerMessage) })
    const error = await catchError(share(server.url))
    expect(error).toMatchObject({ providerMessage, formerVerdict: { rejectType } })
    expect((error as Error).message).toContain(advice)
    expect((error as Error).message).not.toContain('FORGERY')
  })
})

const busy = { error: 'Service temporarily unavailable' }
test.each<[string, Reply]>([
  ['the provider is down', { status: 503, body: identityUnavailableBody }],
  ['the service is down', { status: 503, body: busy }],
  ['a proxy cannot reach the service', { status: 502, body: { error: 'Bad gateway' } }],
  ['a proxy times out', { status: 504, body: null }],
  ['the rate is limited', { status: 429, body: { error: 'Too many requests' } }],
])('a share is retried with the same bytes, because the service redeems a token once: %s', async (_case, reply) => {
  await using server = await serveReplies(reply, reply, { body: redeemed })
  expect(await share(server.url)).toEqual(answered)
  expect(server.requests).toHaveLength(3)
  expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1)
})

const { identity } = getClient('http://localhost:1', { fetch: () => Promise.reject(new Error('something was sent')) })
const bad = (value: unknown) => value as ShareRequest

test.each<[string, unknown, typeof TypeError | typeof RangeError, string]>([
  ['nothing', undefined, TypeError, 'email and kycShareToken'],
  ['null', null, TypeError, 'email and kycShareToken'],
  ['a text', email, TypeError, 'email and kycShareToken'],
  ['no address', { kycShareToken }, TypeError, 'email is missing'],
  ['a number as address', { email: 7, kycShareToken }, TypeError, 'email is missing'],
  ['an address without @', { email: 'user.example', kycShareToken }, TypeError, 'email is not an e-mail address'],
  ['an address with a line break after it', { email: `${email}\n`, kycShareToken }, TypeError, 'white space'],
  ['an address of 1025 characters', { email: email.padStart(1_025, 'a'), kycShareToken }, TypeError, 'email is not'],
  ['no token', { email }, TypeError, 'kycShareToken is missing'],
  ['an empty token', { email, kycShareToken: '' }, TypeError, 'kycShareToken is missing'],
  ['a blank token', { email, kycShareToken: ' \n' }, TypeError, 'kycShareToken is missing'],
  ['the answer of the mint call', { email, kycShareToken: { token: kycShareToken } }, TypeError, 'kycShareToken is'],
  ['a token of 4097 characters', { email, kycShareToken: '_'.repeat(4_097) }, RangeError, '4097 characters'],
])('a share with %s is rejected unsent, and the message does not repeat it', async (_case, request, kind, says) => {
  const error = await catchError(identity.share(bad(request)))
  expect(error).toBeInstanceOf(kind)
  const { message } = error as Error
  expect(message).toContain(says)
  for (const value of [email, kycShareToken, 'user.example', '____']) expect(message).not.toContain(value)
})
