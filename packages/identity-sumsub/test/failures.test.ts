import { describe, expect, test } from 'vitest'
import { catchError, providerAnswering } from './support.js'

/** The provider's list of errors for reuse. Of its names only that of 10518 counts: copying has the same number. */
const reuseErrors = [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21].map((n) => 10_500 + n)

const redeem = { shareToken: 't', externalUserId: 'pi:1' }
const rejected = async (status: number, body: unknown, headers?: Readonly<Record<string, string>>) =>
  catchError((await providerAnswering(status, body, headers)).redeem(redeem))

describe('errors about the token or its donor', () => {
  test.each(reuseErrors)('%i is a rejected token with the words of the provider', async (errorCode) => {
    const errorName = 'reusable-kyc-email-mismatch'
    const body = { code: 400, correlationId: 'c', errorCode, errorName, description: 'Its words', type: 'x' }
    expect(await rejected(400, body)).toMatchObject({
      ...{ code: 'ERR_PROVIDER_TOKEN_REJECTED', providerCode: errorCode, providerMessage: 'Its words' },
      ...{ retryable: false, outcomeUnknown: false },
    })
  })

  test.each([
    'Token is invalid: Token _act-374dc16e is invalid now: created at Tue Dec 02 08:27:46 UTC 2025 with ttl 5 but accessed at Tue Dec 02 08:29:55 UTC 2025 [source: null]',
    'Token is invalid: Malformed token',
    'Token is invalid',
  ])('401 %j without a number is a rejected token', async (description) => {
    expect(await rejected(401, { code: 401, description, type: 'x' })).toMatchObject({
      code: 'ERR_PROVIDER_TOKEN_REJECTED',
      providerCode: null,
      providerMessage: description,
    })
  })

  test('an unlisted number in the range is about the token too', async () => {
    const error = await rejected(400, { errorCode: 10540, description: 'New' })
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_TOKEN_REJECTED' })
  })
})

describe('errors about the service itself', () => {
  test.each([
    ['a wrong signature', 401, { code: 401, description: 'Invalid signature' }],
    ['a wrong signature, in another wording', 401, { description: 'Request signature mismatch', errorCode: 4003 }],
    ['a wrong clock', 401, { code: 401, description: 'Token expired' }],
    ['a wrong clock, with its number', 401, { code: 401, description: 'Token is invalid: expired', errorCode: 4004 }],
    ['a malformed app token', 401, { description: 'Invalid format of the X-App-Token value', errorCode: 4000 }],
    ['an unknown app token', 401, { description: 'App token is invalid', errorCode: 4001 }],
    ['an app token of two halves', 401, { description: 'Token is invalid', errorCode: 4002 }],
    ['missing headers', 401, { description: 'Not all required authorization headers were provided', errorCode: 4006 }],
    ['the text about tokens inside another text', 401, { description: 'App Token is invalid' }],
    ['the text about tokens in lower case', 401, { description: 'token is invalid' }],
    ['the text about tokens with another status', 403, { description: 'Token is invalid' }],
    ['the text about tokens with status 400', 400, { description: 'Token is invalid' }],
    ['the text about tokens in another field', 401, { message: 'Token is invalid' }],
    ['the text about tokens as plain text', 401, 'Token is invalid'],
    ['the text about tokens in a list', 401, { description: ['Token is invalid'] }],
    ['no description', 401, {}],
    ['no body', 401, ''],
    ['disabled reuse', 400, { errorCode: 10505, errorName: 'reusable-kyc-disabled', description: 'x' }],
    ['disabled copying', 400, { errorCode: 10518, errorName: 'copy-applicant-disabled', description: 'x' }],
    ['an ambiguous number without a name', 400, { errorCode: 10518, description: 'x' }],
    ['a number below the range', 400, { errorCode: 10500, description: 'x' }],
    ['a number above the range', 400, { errorCode: 10600, description: 'x' }],
    ['a number as text', 400, { errorCode: '10507', description: 'x' }],
    ['a number with a fraction', 400, { errorCode: 10507.5, description: 'x' }],
    ['a number of a prototype', 400, '{"__proto__":{"errorCode":10507,"description":"x"}}'],
    ['missing permissions', 403, { code: 403, description: 'Forbidden' }],
    ['an unknown level', 404, { code: 404, description: 'Level basic not found' }],
    ['a wrong method', 405, {}],
    ['an overlong request', 414, ''],
  ])('%s is a matter of the set-up', async (_, status, body) => {
    const error = await rejected(status, body)
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_SETUP', status, retryable: false, outcomeUnknown: false })
  })

  test('only a call that sent a share token can have it rejected', async () => {
    const provider = await providerAnswering(401, { code: 401, description: 'Token is invalid: x' })
    expect(await catchError(provider.find('pi:1'))).toMatchObject({ code: 'ERR_PROVIDER_SETUP' })
    expect(await catchError(provider.review('a1'))).toMatchObject({ code: 'ERR_PROVIDER_SETUP' })
  })
})

describe('transient errors', () => {
  test.each([408, 500, 501, 502, 503, 504, 520, 599])('%i means that the outcome is unknown', async (status) => {
    const tokenWords = { code: 401, errorCode: 10507, description: 'Token is invalid' }
    const error = await rejected(status, tokenWords)
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_UNAVAILABLE', status, retryable: true, outcomeUnknown: true })
  })

  test.each([
    ['2', 2_000],
    ['1.5', 1_500],
    ['soon', null],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
    [undefined, null],
  ])('429 with Retry-After %j asks to wait %j ms', async (value, retryAfterMs) => {
    const headers: Record<string, string> = value === undefined ? {} : { 'Retry-After': value }
    const error = await rejected(429, { code: 429, description: 'Too many requests' }, headers)
    const throttled = { code: 'ERR_PROVIDER_THROTTLED', retryable: true, outcomeUnknown: false }
    expect(error).toMatchObject({ ...throttled, retryAfterMs })
  })

  test.each(['['.repeat(40), ' '.repeat(2_000_000)])('429 counts whatever its body', async (body) => {
    const error = await rejected(429, body, { 'Retry-After': '17' })
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_THROTTLED', retryAfterMs: 17_000 })
  })

  test.each([300, 304, 399])('%i is neither an answer nor an error: the outcome is unknown', async (status) => {
    expect(await rejected(status, '')).toMatchObject({ code: 'ERR_PROVIDER_ANSWER', outcomeUnknown: true })
  })
})
