import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import { signatureToleranceSeconds } from '@payment-integration/contract'
import { describe, expect, test } from 'vitest'
import { getCode } from '../test/get-code.js'
import type { RawBody } from './delivery.js'
import { explainRejection } from './errors.js'
import * as node from './internal/hmac.node.js'
import * as web from './internal/hmac.web.js'
import { signingKey, type VerifyBytesInput, verifyBytes, verifySignature } from './verify-signature.js'

const secret = 'whsec_test_9f8e7d6c'
const t = 1_700_000_000
const clock = { now: () => t * 1000 }
const codeOver = (body: Uint8Array | string, key = secret) =>
  createHmac('sha256', key).update(`${t}.`).update(body).digest('hex')
const sign = (body: Uint8Array | string) => `t=${t},v1=${codeOver(body)}`
test('accepts what node:crypto signs, and says which secret, when and how old', async () => {
  const signed = { body: '{"a":1}', header: sign('{"a":1}') }
  const proof = await verifySignature({ ...signed, secrets: ['newer', secret], clock: { now: () => (t + 7) * 1000 } })
  expect(proof).toEqual({ secretIndex: 1, signedAt: t, ageSeconds: 7 })
})

test('bytes, a view into a larger buffer, an ArrayBuffer and text give one verdict', async () => {
  const text = 'prefix{"é":"🔑"}suffix'
  const whole = new TextEncoder().encode(text)
  const body = whole.subarray(6, whole.length - 6)
  const header = sign(body)
  const kinds: RawBody[] = [body, body.slice().buffer, Buffer.from(body), new TextDecoder().decode(body)]
  for (const kind of kinds)
    expect(await getCode(verifySignature({ body: kind, header, secrets: [secret], clock }))).toBe('ok')
})

test.each([
  ['a parsed object', { a: 1 }, 'Object'],
  ['a parsed array', [1], 'Array'],
  ['a Buffer turned into JSON', Buffer.from('a').toJSON(), 'Object'],
  ['undefined', undefined, 'Undefined'],
  ['null', null, 'Null'],
  ['a number', 5, 'Number'],
  ['a stream', new ReadableStream(), 'Stream'],
  ['half a surrogate pair', 'a\ud800', 'surrogate'],
])('%s as the body is rejected with a cure', async (_, body, kind) => {
  const error = await verifySignature({ body: body as string, header: sign('x'), secrets: [secret], clock }).catch(
    (e) => e,
  )
  expect(error).toMatchObject({ code: 'ERR_BODY_NOT_RAW', status: 500 })
  expect(error.arrived).toContain(kind)
  expect(explainRejection(error)).toContain('express.raw')
})

test('maxBytes counts bytes, not characters, and includes its end', async () => {
  const body = 'éé'
  const verify = (maxBytes: number) =>
    getCode(verifySignature({ body, header: sign(body), secrets: [secret], clock, maxBytes }))
  expect(await verify(4)).toBe('ok')
  expect(await verify(3)).toBe('ERR_BODY_TOO_LARGE')
  expect(await verify(1)).toBe('ERR_BODY_TOO_LARGE')
})

test('rejects in order: body kind, shape, time, size, code', async () => {
  const parsed = {} as unknown as string
  const stale = { now: () => (t + 301) * 1000 }
  const forged = `t=${t},v1=${'0'.repeat(64)}`
  const check = (body: string, header: string, at: typeof clock, maxBytes: number) =>
    getCode(verifySignature({ body, header, secrets: [secret], clock: at, maxBytes }))
  expect(await check(parsed, 'junk', stale, 0)).toBe('ERR_BODY_NOT_RAW')
  expect(await check('x', 'junk', stale, 0)).toBe('ERR_SIGNATURE_MALFORMED')
  expect(await check('x', forged, stale, 0)).toBe('ERR_DELIVERY_STALE')
  expect(await check('x', forged, clock, 0)).toBe('ERR_BODY_TOO_LARGE')
  expect(await check('x', forged, clock, 1)).toBe('ERR_SIGNATURE_MISMATCH')
})

test('unusable secrets are a caller mistake, before any check, and the error does not hold them', async () => {
  for (const secrets of [[secret, ''], [` ${secret}`], undefined, []]) {
    const call = verifySignature({ body: 'x', header: null, secrets: secrets as string[], clock })
    const error = await call.catch((e) => e)
    expect(error).toBeInstanceOf(TypeError)
    expect(inspect(error)).not.toContain(secret)
  }
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, undefined])('a clock that gives %s is a RangeError', async (time) => {
  const input = { body: 'x', header: sign('x'), secrets: [secret], clock: { now: () => time as number } }
  await expect(verifySignature(input)).rejects.toThrow(RangeError)
})

test('the system clock is the default, read at the time of the call', async () => {
  const before = Math.floor(Date.now() / 1000)
  const header = `t=${before},v1=${createHmac('sha256', secret).update(`${before}.x`).digest('hex')}`
  const { ageSeconds } = await verifySignature({ body: 'x', header, secrets: [secret] })
  expect(ageSeconds).toBeGreaterThanOrEqual(0)
  expect(ageSeconds).toBeLessThanOrEqual(60)
})

test('the default tolerance is the recommended 300 s, on either side', async () => {
  expect(signatureToleranceSeconds).toBe(300)
  const check = (age: number) =>
    getCode(verifySignature({ body: 'x', header: sign('x'), secrets: secret, clock: { now: () => (t + age) * 1000 } }))
  expect(await check(signatureToleranceSeconds)).toBe('ok')
  expect(await check(signatureToleranceSeconds + 1)).toBe('ERR_DELIVERY_STALE')
  expect(await check(-signatureToleranceSeconds)).toBe('ok')
  expect(await check(-signatureToleranceSeconds - 1)).toBe('ERR_DELIVERY_FUTURE')
})

test('queued work is judged by the time of receipt, not by the clock', async () => {
  const queued = { body: 'x', header: sign('x'), secrets: secret, clock: { now: () => (t + 86_400) * 1000 } }
  expect(await verifySignature({ ...queued, receivedAt: (t + 300) * 1000 })).toMatchObject({ ageSeconds: 300 })
  expect(await getCode(verifySignature({ ...queued, receivedAt: (t + 301) * 1000 }))).toBe('ERR_DELIVERY_STALE')
})

test('a header that is an array of lines is joined as HTTP joins it', async () => {
  const [first, second] = sign('x').split(',') as [string, string]
  const check = (header: string[]) => getCode(verifySignature({ body: 'x', header, secrets: [secret], clock }))
  expect(await check([sign('x')])).toBe('ok')
  expect(await check([first, second])).toBe('ok')
  expect(await check([sign('x'), sign('x')])).toBe('ERR_SIGNATURE_MALFORMED')
  expect(await check([])).toBe('ERR_SIGNATURE_MISSING')
})

test.each([5, true, {}, Symbol('x')])('a header of another type is malformed, not a crash', async (header) => {
  const call = verifySignature({ body: 'x', header: header as unknown as string, secrets: [secret], clock })
  expect(await getCode(call)).toBe('ERR_SIGNATURE_MALFORMED')
})

/** The code of `verifyBytes`. */
const checkBytes = (body: Uint8Array, options: Partial<VerifyBytesInput> = {}) =>
  getCode(verifyBytes({ body, header: sign(body), keys: [signingKey(secret)], receivedAt: clock.now(), ...options }))

test('a body of maxBytes passes, one more byte does not; 262144 unless told', async () => {
  expect(await checkBytes(new Uint8Array(262_144))).toBe('ok')
  expect(await checkBytes(new Uint8Array(262_145))).toBe('ERR_BODY_TOO_LARGE')
  expect(await checkBytes(new Uint8Array(5), { maxBytes: 5 })).toBe('ok')
  expect(await checkBytes(new Uint8Array(6), { maxBytes: 5 })).toBe('ERR_BODY_TOO_LARGE')
})

test.each([Number.NaN, 'x', {}, -1, Infinity, -Infinity])('a wrong option accepts nothing: %s', async (wrong) => {
  const value = wrong as number
  expect(await checkBytes(new Uint8Array(1), { maxBytes: value })).toBe('ERR_BODY_TOO_LARGE')
  expect(await checkBytes(new Uint8Array(1), { toleranceSeconds: value })).toMatch(/^ERR_DELIVERY_/)
  expect(await checkBytes(new Uint8Array(1), { receivedAt: value })).toMatch(/^ERR_DELIVERY_/)
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
  const input = { body, header: sign(body), keys: [signingKey(secret)], receivedAt: clock.now() }
  const reason = await verifyBytes({ ...input, ...(wrong as Partial<VerifyBytesInput>) }).catch((error) => error)
  expect(reason.code ?? reason.constructor.name).toBe(expected)
})

test('without a key nothing is accepted', async () => {
  expect(await checkBytes(new Uint8Array(1), { keys: [] })).toBe('ERR_SIGNATURE_MISMATCH')
})

test.each(['', ' ', '\n', `${secret}\n`, undefined, null, 5])('the secret %j is no key', (wrong) => {
  for (const { signingKey: keyOf } of [node, web]) {
    expect(() => keyOf(wrong as string)).toThrow(TypeError)
    expect(() => keyOf(wrong as string)).not.toThrow(secret)
  }
})

const primitives = Object.entries({ 'node:crypto': node, 'Web Crypto': web })
describe.each(primitives)('on %s', (_, { findMatchingKey, signingKey: keyOf }) => {
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
