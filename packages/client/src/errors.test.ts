import { inspect } from 'node:util'
import {
  identityMisconfiguredBody,
  identityUnavailableBody,
  verificationUnavailableBody,
} from '@payment-integration/contract/internal'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { apiSecret, catchError, encodedSecret, getClient, hashOf, page, payment } from '../test/fixtures.js'
import { apiKey, getLegacyClient, invoice, verified } from '../test/legacy-fixtures.js'
import { email, kycShareToken, rejection, shareResponse, submission } from '../test/share-fixtures.js'
import { isClientError } from './any-error.js'
import type { ClientErrorCode } from './errors.js'
import type { FetchFunction, FetchInit, TransportOptions } from './transport-options.js'

// A hostile service, proxy and fetch: they put credentials and user data wherever an error could pick them up.
const leak = `Basic ${encodedSecret} ${apiSecret} ${apiKey} ${email} ${kycShareToken}`
/** Without the legacy key, which this client does not know. */
const sharingLeak = leak.replace(apiKey, '')
const leakHeaders = {
  authorization: `Basic ${encodedSecret}`,
  'x-echo': encodedSecret,
  'x-api-key': apiKey,
  location: `https://x/${encodedSecret}`,
}
const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): FetchFunction =>
  async () =>
    Response.json(body, { status, headers: { ...leakHeaders, ...headers }, statusText: encodedSecret })
const leakyError = (request: FetchInit) =>
  Object.assign(new TypeError(leak, { cause: Object.assign(new Error(leak), { request, code: encodedSecret }) }), {
    request,
    code: apiSecret,
    config: { headers: leakHeaders },
  })
const rejecting: FetchFunction = async (_url, init) => Promise.reject(leakyError(init))
const throwing: FetchFunction = (_url, init) => {
  throw leakyError(init)
}
const never: FetchFunction = (_url, init) =>
  new Promise((_, reject) => init.signal.addEventListener('abort', () => reject(leakyError(init))))

type Call = (options: Partial<TransportOptions>) => Promise<unknown>
const baseUrl = 'https://payments.example.com'
const list: Call = (options) => getClient(baseUrl, options).payments.list()
const get: Call = (options) => getClient(baseUrl, options).payments.get(hashOf(1))
const share: Call = (options) => getClient(baseUrl, options).identity.share(submission)
const lookup: Call = (options) => getLegacyClient(baseUrl, options).lookup(invoice)
const verify: Call = (options) => getLegacyClient(baseUrl, options).verify(invoice)
const readAll: Call = async (options) => {
  for await (const _ of getClient(baseUrl, options).payments.iterate());
}
const aborted: Call = (options) => {
  const controller = new AbortController()
  setImmediate(() => controller.abort(new Error(leak)))
  return getClient(baseUrl, options).payments.list({ signal: controller.signal })
}
const keyDetails = [{ code: 'custom', message: 'rejected', path: [apiKey] }]
const mismatched = (memo: string) => verified({ verified: false, verificationErrors: ['Invalid payment amount'], memo })

type Case = [ClientErrorCode, string, FetchFunction, Call, Partial<TransportOptions>?]
const leakyDetails = [{ code: 'custom', message: 'must be known', path: ['chainId'], [leak]: 1 }]
const unavailable = { ...identityUnavailableBody, message: leak }
const verifiedElsewhere = { ...verificationUnavailableBody, message: leak }
const wrongList = { payments: [{ ...payment(1), state: leak, [leak]: 1 }] }
const wrongShare = { ...shareResponse(), reviewStatus: [leak], [leak]: leak }
const secretFields = { ...page([1]), [encodedSecret]: 1, [apiSecret]: 1 }
const cases = [
  ['ERR_UNAUTHORIZED', '401', json(401, { error: leak }), list],
  ['ERR_REQUEST_INVALID', '400', json(400, { error: leak }), list],
  ['ERR_REQUEST_INVALID', '400 with maxLimit', json(400, { error: leak, maxLimit: 3, message: leak }), list],
  ['ERR_PAYMENT_NOT_FOUND', '404', json(404, { error: leak }), get],
  ['ERR_PAYMENT_AMBIGUOUS', '409', json(409, { error: leak }), get],
  ['ERR_RATE_LIMITED', '429', json(429, { error: leak }, { 'retry-after': encodedSecret }), list],
  ['ERR_SERVICE_UNAVAILABLE', '503', json(503, { error: leak }, { 'retry-after': encodedSecret }), list],
  ['ERR_NETWORK', 'a rejected fetch', rejecting, list],
  ['ERR_NETWORK', 'a fetch that throws', throwing, list],
  ['ERR_NETWORK', 'a fetch that throws a text', () => Promise.reject(leak), list],
  ['ERR_TIMEOUT', 'a slow attempt', never, list, { timeoutMs: 10 }],
  ['ERR_TIMEOUT', 'a slow call', never, list, { totalTimeoutMs: 10 }],
  ['ERR_ABORTED', 'an abort with a reason', never, aborted],
  ['ERR_RESPONSE_INVALID', 'not JSON', async () => new Response(leak), list],
  ['ERR_RESPONSE_INVALID', 'the wrong shape', json(200, wrongList), list],
  ['ERR_RESPONSE_INVALID', 'a redirect', json(302, { error: leak }), list],
  ['ERR_RESPONSE_INVALID', 'an unknown status', json(418, { error: leak }), list],
  ['ERR_RESPONSE_INVALID', 'too large', json(200, { leak }), list, { maxResponseBytes: 5 }],
  ['ERR_UNAUTHORIZED', 'a 401 on share', json(401, { error: leak }), share],
  ['ERR_SHARE_REQUEST_INVALID', 'a 400 on share', json(400, { error: leak, message: leak }), share],
  ['ERR_SHARING_DISABLED', 'a 404 on share', json(404, { error: leak }), share],
  ['ERR_VERIFICATION_UNAVAILABLE', 'a 409 on share', json(409, verifiedElsewhere), share],
  ['ERR_SHARE_TOKEN_REJECTED', 'a 422 on share', json(422, { ...rejection(sharingLeak), [leak]: leak }), share],
  ['ERR_IDENTITY_MISCONFIGURED', 'a 502 on share', json(502, { ...identityMisconfiguredBody, message: leak }), share],
  ['ERR_IDENTITY_UNAVAILABLE', 'a 503 on share', json(503, unavailable, { 'retry-after': encodedSecret }), share],
  ['ERR_SERVICE_UNAVAILABLE', 'a 503 on share with another body', json(503, { error: leak }), share],
  ['ERR_RATE_LIMITED', 'a 429 on share', json(429, { error: leak }), share],
  ['ERR_NETWORK', 'a rejected fetch of a share', rejecting, share],
  ['ERR_TIMEOUT', 'a slow share', never, share, { timeoutMs: 10 }],
  ['ERR_RESPONSE_INVALID', 'the wrong shape of a share', json(200, wrongShare), share],
  ['ERR_RESPONSE_INVALID', 'a 422 on share with another body', json(422, { error: leak }), share],
  ['ERR_UNAUTHORIZED', 'a legacy 401', json(401, { error: leak }), lookup],
  ['ERR_LEGACY_REQUEST_INVALID', 'a legacy 400', json(400, { error: leak, details: leakyDetails }), lookup],
  ['ERR_TRANSACTION_NOT_FOUND', 'a legacy 404', json(404, { error: leak }), lookup],
  ['ERR_VERIFICATION_FAILED', 'a 409 on verify', json(409, mismatched('order 1')), verify],
  ['ERR_RATE_LIMITED', 'a legacy 429', json(429, { error: leak }), verify],
  ['ERR_SERVICE_UNAVAILABLE', 'a legacy 503', json(503, { error: leak }), verify],
  ['ERR_NETWORK', 'a rejected legacy fetch', rejecting, verify],
  ['ERR_TIMEOUT', 'a slow legacy attempt', never, verify, { timeoutMs: 10 }],
  ['ERR_RESPONSE_INVALID', 'the API key in the details', json(400, { error: '', details: keyDetails }), lookup],
  ['ERR_RESPONSE_INVALID', 'the API key in the result of a 409', json(409, mismatched(`key: ${apiKey}`)), verify],
  ['ERR_RESPONSE_INVALID', 'the wrong legacy shape', json(200, { chainId: leak, payments: leak }), lookup],
  ['ERR_RESPONSE_INVALID', 'a repeated cursor', json(200, page([], encodedSecret)), readAll],
  ['ERR_RESPONSE_INVALID', 'fields named like the secrets', json(200, secretFields), list, { strict: true }],
] satisfies Case[]

/** Every form in which a logger, a console or an error tracker shows an error. */
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

const secrets = [
  ...[apiSecret, encodedSecret, apiKey, inspect(apiKey).slice(1, -1), 'authorization', 'Basic '],
  ...[email, kycShareToken, inspect(kycShareToken).slice(1, -1)],
]

describe("no form of an error shows the credentials, or the user's address or token", () => {
  test.each<Case>(cases)('%s: %s', async (code, _case, fetch, call, options) => {
    const error = await catchError(call({ fetch, retryDelayMs: 1, maxRetryDelayMs: 2, ...options }))
    expect(error).toMatchObject({ code })
    expect(isClientError(error)).toBe(true)
    expect(error).not.toHaveProperty('cause')
    const shown = everyForm(error)
    expect(shown).toContain(code)
    for (const secret of secrets) expect(shown.toLowerCase()).not.toContain(secret.toLowerCase())
  })

  test('the cases include every code', () => {
    expectTypeOf<(typeof cases)[number][0]>().toEqualTypeOf<ClientErrorCode>()
    expect(new Set(cases.map(([code]) => code)).size).toBe(19)
  })

  test('the search finds the secrets of an error that holds its request', () => {
    const request = new Request('https://x', { headers: { authorization: `Basic ${encodedSecret}` } })
    const leaking = new Error('outer', { cause: Object.assign(new Error('inner'), { headers: [...request.headers] }) })
    expect(everyForm(leaking)).toContain(encodedSecret)
    expect(everyForm(Object.assign(new Error('outer'), { submission })).toLowerCase()).toContain(email.toLowerCase())
  })
})
