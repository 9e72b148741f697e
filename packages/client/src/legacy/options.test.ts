import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { apiKey } from '../../test/legacy-fixtures.js'
import { checkLegacyOptions, createLegacyClient, type LegacyClientOptions } from './client.js'

const good = { baseUrl: 'https://payments.example.com', apiKey } satisfies LegacyClientOptions

test('the bare key is the default, and the transport has its own defaults', () => {
  expect(checkLegacyOptions(good)).toMatchObject({ apiKey, bearer: false, maxRetries: 2 })
  expect(checkLegacyOptions({ ...good, bearer: undefined, maxRetries: 0 })).toMatchObject({
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
  const options = { ...good, ...change } as unknown as LegacyClientOptions
  expect(() => createLegacyClient(options)).toThrow(TypeError)
  expect(() => createLegacyClient(options)).toThrow(message)
  try {
    createLegacyClient(options)
  } catch (error) {
    expect(inspect(error)).not.toContain(apiKey)
  }
})
