import { expect, test } from 'vitest'
import { repeatsSecret } from './client.js'

const secret = 'pi_legacy_"\\/0123456789'

test.each<[string, unknown]>([
  ['as a text', secret],
  ['inside a text', `key ${secret}!`],
  ['deep in a list', { details: [{ path: ['chainId', `x${secret}`] }] }],
  ['as the name of a field', { [secret]: 1 }],
  ['in escapes', JSON.parse(`"${[...secret].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join('')}"`)],
])('finds the secret %s', (_case, body) => {
  expect(repeatsSecret(body, secret)).toBe(true)
})

test('finds nothing in a body without it', () => {
  expect(repeatsSecret({ error: 'Invalid', details: [secret.slice(1), secret.slice(0, -1)] }, secret)).toBe(false)
})

test('looks for a secret of 16 characters, not for one of 15', () => {
  const text = 'x'.repeat(16)
  expect(repeatsSecret({ memo: text }, text)).toBe(true)
  expect(repeatsSecret({ memo: text }, text.slice(1))).toBe(false)
})
