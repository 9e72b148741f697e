import { expect, test } from 'vitest'
import { formatBasicAuthorization } from './client.js'

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
