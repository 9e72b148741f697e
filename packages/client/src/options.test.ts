import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { apiSecret, integrationAddress } from '../test/fixtures.js'
import { type ClientOptions, checkOptions, createClient, formatBasicAuthorization } from './client.js'

const good = { baseUrl: 'https://payments.example.com', integrationAddress, apiSecret } satisfies ClientOptions

/** The options with a change that the types would reject. */
function withBad(change: Record<string, unknown>): ClientOptions {
  return { ...good, ...change } as unknown as ClientOptions
}

describe('accepts', () => {
  test.each([
    ['https://payments.example.com', 'https://payments.example.com'],
    ['https://payments.example.com/', 'https://payments.example.com'],
    ['https://example.com:8443/pay//', 'https://example.com:8443/pay'],
    ['https://example.com/api/v1/pay', 'https://example.com/api/v1/pay'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://api.localhost', 'http://api.localhost'],
    ['http://127.9.9.9:1', 'http://127.9.9.9:1'],
    ['http://0x7f.1:80', 'http://127.0.0.1'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('the base URL %s as %s', (baseUrl, expected) => {
    expect(checkOptions({ ...good, baseUrl }).baseUrl).toBe(expected)
    expect(checkOptions({ ...good, baseUrl: new URL(baseUrl) }).baseUrl).toBe(expected)
  })

  test('an address in any case, lowercased', () => {
    const upper = `0x${integrationAddress.slice(2).toUpperCase()}`
    expect(checkOptions({ ...good, integrationAddress: upper }).integrationAddress).toBe(integrationAddress)
  })

  test('explicit undefined as absent, and keeps 0', () => {
    const checked = checkOptions({ ...good, timeoutMs: undefined, maxRetries: 0, retryDelayMs: 0 })
    expect(checked).toMatchObject({ timeoutMs: 10_000, maxRetries: 0, retryDelayMs: 0 })
  })
})

describe('rejects with a TypeError', () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no base URL', { baseUrl: undefined }, /baseUrl is of type undefined/],
    ['a relative base URL', { baseUrl: '/api' }, /not an absolute URL/],
    ['a base URL without scheme', { baseUrl: 'payments.example.com' }, /not an absolute URL/],
    ['another scheme', { baseUrl: 'ftp://example.com' }, /pass https:/],
    ['http to a public host', { baseUrl: 'http://payments.example.com' }, /pass https:, or http: to a loopback host/],
    ['http to a host that only begins like loopback', { baseUrl: 'http://127.0.0.1.example.com' }, /loopback/],
    ['http to a host that only ends like localhost', { baseUrl: 'http://notlocalhost' }, /loopback/],
    ['http to a private address', { baseUrl: 'http://10.0.0.1' }, /loopback/],
    ['credentials in the base URL', { baseUrl: `https://user:hidden@example.com` }, /holds credentials/],
    ['a query in the base URL', { baseUrl: 'https://example.com/?a=1' }, /query or a fragment/],
    ['a fragment in the base URL', { baseUrl: 'https://example.com/#a' }, /query or a fragment/],
    ['a base URL with the path of the API', { baseUrl: 'https://example.com/api/v1' }, /leave \/api\/v1 out; the/],
    ['the same with a slash', { baseUrl: 'https://example.com/pay/api/v1/' }, /leave \/api\/v1 out; the client adds/],
    ['no address', { integrationAddress: undefined }, /integrationAddress is not an address/],
    ['a short address', { integrationAddress: '0x12' }, /integrationAddress is not an address/],
    ['an address with a line break', { integrationAddress: `${integrationAddress}\n` }, /is not an address/],
    ['no secret', { apiSecret: undefined }, /apiSecret is missing or blank/],
    ['a secret that is no text', { apiSecret: 42 }, /apiSecret is missing or blank/],
    ['an empty secret', { apiSecret: '' }, /apiSecret is missing or blank/],
    ['a blank secret', { apiSecret: ' \t' }, /apiSecret is missing or blank/],
    ['a secret with a line break at its end', { apiSecret: `${apiSecret}\n` }, /begins or ends with white space/],
    ['a secret with a control character', { apiSecret: 'a\u0000b' }, /control character/],
    ['a fetch that is no function', { fetch: 'fetch' }, /fetch is string/],
    ['a clock that is no function', { clock: { now: 0 } }, /clock\.now is number/],
    ['a random source that is no function', { random: 0.5 }, /random is number/],
    ['a timeout as text', { timeoutMs: '100' }, /timeoutMs is of type string/],
    ['null for a number', { maxRetries: null }, /maxRetries is of type object/],
  ])('%s', (_case, change, message) => {
    expect(() => createClient(withBad(change))).toThrow(TypeError)
    expect(() => createClient(withBad(change))).toThrow(message)
  })

  test.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['https://example.com', 'string'],
  ])('%s instead of options', (options, type) => {
    const message = `createClient got ${type}; pass an object with baseUrl, integrationAddress and apiSecret.`
    expect(() => createClient(options as unknown as ClientOptions)).toThrow(message)
  })
})

test.each<[string, Record<string, unknown>]>([
  ['a zero timeout', { timeoutMs: 0 }],
  ['an endless timeout', { timeoutMs: Number.POSITIVE_INFINITY }],
  ['a timeout beyond what a timer holds', { timeoutMs: 2_147_483_648 }],
  ['a fraction of a millisecond', { totalTimeoutMs: 1.5 }],
  ['NaN', { totalTimeoutMs: Number.NaN }],
  ['a negative number of retries', { maxRetries: -1 }],
  ['eleven retries', { maxRetries: 11 }],
  ['a negative delay', { retryDelayMs: -1 }],
  ['a negative ceiling', { maxRetryDelayMs: -1 }],
  ['a size limit of zero', { maxResponseBytes: 0 }],
])('%s is a RangeError', (_case, change) => {
  const [name] = Object.keys(change)
  expect(() => createClient(withBad(change))).toThrow(RangeError)
  expect(() => createClient(withBad(change))).toThrow(`${name} is `)
})

test('no message repeats the secret, even in the place of another option', () => {
  const flawed = [`${apiSecret}\n`, `${apiSecret}\0.`].map((each) => ({ apiSecret: each }))
  for (const change of [{ baseUrl: apiSecret }, { integrationAddress: apiSecret }, ...flawed]) {
    const call = () => createClient({ ...good, ...change })
    expect(call).toThrow(TypeError)
    expect(call).toThrow(expect.toSatisfy((error) => !inspect(error).includes(apiSecret)))
  }
})

test('a client does not show its secret', () => {
  const client = createClient(good)
  const shown = [inspect(client, { depth: null, showHidden: true }), JSON.stringify(client)]
  for (const text of [...shown, inspect(client.wallet(integrationAddress))]) expect(text).not.toContain(apiSecret)
})

test.each([
  ['plain ASCII', 'secret'],
  ['a colon, a slash and a plus', 'a:b/c+d=='],
  ['two-byte, three-byte and four-byte characters', 'pässwörd €20 🔑'],
  ['a long secret', 'x€'.repeat(100_000)],
])('equals the encoding by Buffer: %s', (_case, secret) => {
  const expected = `Basic ${Buffer.from(`0xab:${secret}`, 'utf8').toString('base64')}`
  expect(formatBasicAuthorization('0xab', secret)).toBe(expected)
})

test('needs no Buffer', () => {
  const { Buffer: kept } = globalThis
  try {
    Reflect.deleteProperty(globalThis, 'Buffer')
    expect(formatBasicAuthorization('user', 'pass')).toBe('Basic dXNlcjpwYXNz')
  } finally {
    globalThis.Buffer = kept
  }
})
