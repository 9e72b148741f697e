import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { WebhookError } from './errors.js'
import * as node from './internal/hmac.node.js'
import * as web from './internal/hmac.web.js'
import { signingKey, type VerifyBytesInput, verifyBytes } from './verify-signature.js'

const t = 1_700_000_000
const secret = 'whsec_bytes'
const codeOver = (body: Uint8Array, key = secret) =>
  createHmac('sha256', key).update(`${t}.`).update(body).digest('hex')
const check = (body: Uint8Array, options: Partial<VerifyBytesInput> = {}) =>
  verifyBytes({
    body,
    header: `t=${t},v1=${codeOver(body)}`,
    keys: [signingKey(secret)],
    receivedAt: t * 1000,
    ...options,
  }).then(
    () => 'ok',
    (error: WebhookError) => error.code,
  )

test('a body of maxBytes passes, one more byte does not; 262144 unless told', async () => {
  expect(await check(new Uint8Array(262_144))).toBe('ok')
  expect(await check(new Uint8Array(262_145))).toBe('ERR_BODY_TOO_LARGE')
  expect(await check(new Uint8Array(5), { maxBytes: 5 })).toBe('ok')
  expect(await check(new Uint8Array(6), { maxBytes: 5 })).toBe('ERR_BODY_TOO_LARGE')
})

test.each([Number.NaN, 'x', {}, -1, Infinity, -Infinity])('a wrong option accepts nothing: %s', async (wrong) => {
  const value = wrong as number
  expect(await check(new Uint8Array(1), { maxBytes: value })).toBe('ERR_BODY_TOO_LARGE')
  expect(await check(new Uint8Array(1), { toleranceSeconds: value })).toMatch(/^ERR_DELIVERY_/)
  expect(await check(new Uint8Array(1), { receivedAt: value })).toMatch(/^ERR_DELIVERY_/)
})

test.each<[string, object, string]>([
  ['a header that is a list', { header: [`t=${t},v1=${'a'.repeat(64)}`] }, 'TypeError'],
  ['a header that is a number', { header: 5 }, 'TypeError'],
  ['no body', { body: undefined }, 'TypeError'],
  ['a parsed body', { body: { state: 'success' } }, 'ERR_BODY_TOO_LARGE'],
  ['no keys', { keys: undefined }, 'TypeError'],
  ['a secret as it is', { keys: [secret] }, 'TypeError'],
])('from JavaScript, %s is rejected: %j gives %s', async (_case, wrong, expected) => {
  const body = new Uint8Array(1)
  const input = { body, header: `t=${t},v1=${codeOver(body)}`, keys: [signingKey(secret)], receivedAt: t * 1000 }
  const reason = await verifyBytes({ ...input, ...(wrong as Partial<VerifyBytesInput>) }).catch((error) => error)
  expect(reason.code ?? reason.constructor.name).toBe(expected)
})

test('without a key nothing is accepted', async () => {
  expect(await check(new Uint8Array(1), { keys: [] })).toBe('ERR_SIGNATURE_MISMATCH')
})

test.each(['', ' ', '\n', `${secret}\n`, undefined, null, 5])('the secret %j is no key', (wrong) => {
  for (const { signingKey: keyOf } of [node, web]) {
    expect(() => keyOf(wrong as string)).toThrow(TypeError)
    expect(() => keyOf(wrong as string)).not.toThrow(secret)
  }
})

describe.each([
  ['node:crypto', node],
  ['Web Crypto', web],
])('on %s', (_, { findMatchingKey, signingKey: keyOf }) => {
  test('bodies of every length around the block and around 64 KiB have the code of createHmac', async () => {
    const keys = [keyOf(secret)]
    const lengths = [...Array.from({ length: 200 }, (_value, length) => length), 65_523, 65_535, 65_536, 65_537, 70_000]
    for (const length of lengths) {
      const body = Uint8Array.from({ length }, (_value, index) => (index * 31 + length) % 256)
      expect(await findMatchingKey(keys, t, body, [codeOver(body)]), `${length}`).toBe(0)
    }
  })

  test('keys of every length around the block have the code of createHmac', async () => {
    const body = new TextEncoder().encode('body')
    for (let length = 1; length <= 200; length += 1) {
      const key = 'é'.repeat(length % 3).padEnd(length, 'k')
      expect(await findMatchingKey([keyOf(key)], t, body, [codeOver(body, key)]), key).toBe(0)
    }
  })

  test('many at once do not mix, and a short body after a long one has nothing of it', async () => {
    const keys = [keyOf('whsec_other'), keyOf(secret)]
    const bodies = Array.from({ length: 50 }, (_value, index) => new Uint8Array(index % 2 ? 3 : 5_000).fill(index))
    const found = await Promise.all(
      bodies.map((body) => findMatchingKey(keys, t, body, ['0'.repeat(64), codeOver(body)])),
    )
    expect(found).toEqual(bodies.map(() => 1))
  })
})
