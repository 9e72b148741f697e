import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { getCode } from '../test/get-code.js'
import { createVerifier, type VerifierOptions } from './create-verifier.js'
import type { Delivery, HeadersLike } from './delivery.js'
import { createTestDelivery, createTestSnapshot } from './test-delivery.js'

const secret = 'whsec_verifier'
const clock = { now: () => 1_700_000_000_000 }
const t = 1_700_000_000
const snapshot = createTestSnapshot()
const other = createTestSnapshot({ integrationAddress: `0x${'c3'.repeat(20)}` })
const good = await createTestDelivery({ secret, clock })
const signatureOver = (body: Uint8Array, key = secret) =>
  `t=${t},v1=${createHmac('sha256', key).update(`${t}.`).update(body).digest('hex')}`
const make = (options: Partial<VerifierOptions> = {}) => createVerifier({ secrets: secret, clock, ...options })
/** A look-up that notes what it was asked. */
const recordingTo = (asked: string[]) => (integration: string) => {
  asked.push(integration)
  return secret
}

const pairs = Object.entries(good.headers)
const renamed = (rename: (name: string) => string) => pairs.map(([name, value]) => [rename(name), value] as const)
const lists = pairs.map(([name, value]) => [name, [value]] as const)

test.each<[string, HeadersLike]>([
  ['fetch Headers', new Headers(good.headers)],
  ['a record in wire case', good.headers],
  ['a record in lower case', Object.fromEntries(renamed((name) => name.toLowerCase()))],
  ['a record in upper case', Object.fromEntries(renamed((name) => name.toUpperCase()))],
  ['a record of lists, as multiValueHeaders of a Lambda event', Object.fromEntries(lists)],
  ['a record without a prototype', Object.assign(Object.create(null), good.headers)],
  ['a Map', new Map(pairs)],
  ['a Map in mixed case', new Map(renamed((name) => name.replace('X-', 'x-')))],
  ['entries', pairs],
  ['entries whose values are lists', lists],
  ['the entries of fetch Headers, which can be read once', new Headers(good.headers).entries()],
  ['the entries of a Map, which can be read once', new Map(pairs).entries()],
  ["Node's rawHeaders", pairs.flat()],
  ["Node's rawHeaders, to be read once", pairs.flat().values()],
  ['an object with get, as an Express request is', { get: (name: string) => new Headers(good.headers).get(name) }],
])('headers can be %s', async (_, headers) => {
  expect((await make().verify({ body: good.body, headers })).snapshot).toEqual(snapshot)
})

test.each([null, undefined, 'x', 5, [], {}, [['x']], ['a', 'b'], { 'X-Service-Signature': 5 }, new Map([[5, 'x']])])(
  'headers of %j have no signature',
  async (headers) => {
    const delivery = { body: good.body, headers } as unknown as Delivery
    expect(await getCode(make().verify(delivery))).toBe('ERR_SIGNATURE_MISSING')
  },
)

test('a signature header that came twice is rejected whatever the framework makes of it', async () => {
  const name = 'x-service-signature'
  const value = good.headers['X-Service-Signature'] ?? ''
  const twice = new Headers(good.headers)
  twice.append(name, value)
  for (const headers of [
    twice,
    { ...good.headers, 'X-Service-Signature': [value, value] },
    { ...good.headers, [name]: value },
    [...pairs, [name, value]],
    [...pairs, [name, value]].values(),
    [...pairs.flat(), name, value],
  ]) {
    const delivery = { body: good.body, headers: headers as HeadersLike }
    expect(await getCode(make().verify(delivery))).toBe('ERR_SIGNATURE_MALFORMED')
  }
})

test('a function finds the secrets by integration, now or later', async () => {
  const asked: string[] = []
  const { verify } = make({
    async secrets(integration) {
      asked.push(integration)
      return integration === snapshot.integrationAddress ? [secret] : 'whsec_other'
    },
  })
  const foreign = await createTestDelivery({ secret: 'whsec_other', clock, snapshot: other })
  expect((await verify(good)).snapshot.integrationAddress).toBe(snapshot.integrationAddress)
  expect((await verify(foreign)).snapshot.integrationAddress).toBe(other.integrationAddress)
  expect(asked).toEqual([snapshot.integrationAddress, other.integrationAddress])
})

test.each([undefined, null, []])('an integration whose secrets are %j is unknown', async (none) => {
  expect(await getCode(make({ secrets: () => none }).verify(good))).toBe('ERR_INTEGRATION_UNKNOWN')
})

test('only a lowercased address reaches the look-up', async () => {
  const asked: string[] = []
  const { verify } = make({ secrets: recordingTo(asked) })
  const address = snapshot.integrationAddress
  for (const hint of [undefined, '', '../etc', "' or 1=1", address.toUpperCase(), `${address}, x`]) {
    const headers = { ...good.headers, 'X-Service-Integration': hint }
    expect(await getCode(verify({ body: good.body, headers }))).toBe('ERR_INTEGRATION_UNKNOWN')
  }
  expect(asked).toEqual([])
})

test('junk and stale headers do not reach the look-up', async () => {
  const asked: string[] = []
  const { verify } = make({ secrets: recordingTo(asked) })
  await getCode(verify({ ...good, headers: { ...good.headers, 'X-Service-Signature': 'junk' } }))
  await getCode(verify(await createTestDelivery({ secret, clock, ageSeconds: 301 })))
  expect(asked).toEqual([])
})

test('what the look-up throws passes through', async () => {
  const failure = new Error('database is down')
  const { verify } = make({
    secrets: () => {
      throw failure
    },
  })
  await expect(verify(good)).rejects.toBe(failure)
})

test.each(['', ' ', `${secret}\n`, [''], [null], 5, false])(
  'a look-up that gives %j is a TypeError, never an open door',
  async (bad) => {
    const { verify } = make({ secrets: () => bad as string })
    const unsignedByKey = { ...good, headers: { ...good.headers, 'X-Service-Signature': signatureOver(good.body, '') } }
    await expect(verify(unsignedByKey)).rejects.toThrow(TypeError)
  },
)

test.each([undefined, null, [], {}, '', ' ', 5, `${secret}\n`, [''], [secret, '']])(
  'fixed secrets of %j are rejected at construction',
  (secrets) => {
    const call = () => createVerifier({ secrets: secrets as string })
    expect(call).toThrow(TypeError)
    expect(call).not.toThrow(secret)
  },
)

test.each([[undefined], [null], [{}], [{ secrets: [] }]])(
  'createVerifier(%j) says that secrets is missing',
  (options) => {
    const call = () => createVerifier(options as unknown as VerifierOptions)
    expect(call).toThrow(TypeError)
    expect(call).toThrow('secrets is missing or empty; is its variable set?')
  },
)

test('queued work is judged by the time of receipt that its delivery carries', async () => {
  const { verify } = make({ clock: { now: () => (t + 86_400) * 1000 } })
  expect(await getCode(verify(good))).toBe('ERR_DELIVERY_STALE')
  expect(await verify({ ...good, receivedAt: (t + 300) * 1000 })).toMatchObject({ ageSeconds: 300 })
  expect(await getCode(verify({ ...good, receivedAt: (t + 301) * 1000 }))).toBe('ERR_DELIVERY_STALE')
  expect(await getCode(verify({ ...good, receivedAt: (t - 301) * 1000 }))).toBe('ERR_DELIVERY_FUTURE')
  for (const receivedAt of [Number.NaN, '2023-11-14', new Date(t * 1000)])
    await expect(verify({ ...good, receivedAt: receivedAt as number })).rejects.toThrow(RangeError)
})

test('a clock that is no function is rejected at construction, one that gives no number at the first delivery', async () => {
  expect(() => make({ clock: { now: 5 as unknown as () => number } })).toThrow(TypeError)
  await expect(make({ clock: { now: () => Number.NaN } }).verify(good)).rejects.toThrow(RangeError)
})

test('the list of secrets is read once; a later change does not reach the verifier', async () => {
  const secrets = [secret]
  const { verify } = make({ secrets })
  secrets[0] = 'whsec_changed'
  expect(await getCode(verify(good))).toBe('ok')
})

test('the header must name the integration of the signed body', async () => {
  const without = { ...good.headers }
  delete without['X-Service-Integration']
  expect(await getCode(make().verify({ body: good.body, headers: without }))).toBe('ERR_INTEGRATION_MISMATCH')
  const moved = { ...good.headers, 'X-Service-Integration': other.integrationAddress }
  expect(await getCode(make().verify({ body: good.body, headers: moved }))).toBe('ERR_INTEGRATION_MISMATCH')
})

test('JSON is parsed only after the signature is right', async () => {
  const body = new TextEncoder().encode('not json')
  const headers = (key: string) => ({ ...good.headers, 'X-Service-Signature': signatureOver(body, key) })
  expect(await getCode(make().verify({ body, headers: headers('whsec_wrong') }))).toBe('ERR_SIGNATURE_MISMATCH')
  expect(await getCode(make().verify({ body, headers: headers(secret) }))).toBe('ERR_SNAPSHOT_INVALID')
})

const post = (headers: Record<string, string>, body: Uint8Array<ArrayBuffer> | ReadableStream = good.body) =>
  new Request('http://127.0.0.1/', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)

test('a fetch request is read after its headers passed, and only up to maxBytes', async () => {
  const bad = post({ ...good.headers, 'X-Service-Signature': 'junk' })
  expect(await getCode(make().verify(bad))).toBe('ERR_SIGNATURE_MALFORMED')
  expect(bad.bodyUsed).toBe(false)

  const declared = post({ ...good.headers, 'Content-Length': '10000' })
  expect(await getCode(make({ maxBytes: 9999 }).verify(declared))).toBe('ERR_BODY_TOO_LARGE')
  expect(declared.bodyUsed).toBe(false)

  let pulled = 0
  let canceled = false
  const long = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++pulled > 50) controller.close()
      else controller.enqueue(new Uint8Array(1000))
    },
    cancel() {
      canceled = true
    },
  })
  expect(await getCode(make({ maxBytes: 5000 }).verify(post(good.headers, long)))).toBe('ERR_BODY_TOO_LARGE')
  expect(pulled).toBeLessThan(10)
  expect(canceled).toBe(true)
})

test('a fetch request whose body is locked is rejected with a cure, also when the lock comes during the look-up', async () => {
  const before = post(good.headers)
  before.body?.getReader()
  await expect(make().verify(before)).rejects.toMatchObject({ code: 'ERR_BODY_NOT_RAW', status: 500 })

  const during = post(good.headers)
  const { verify } = make({
    secrets() {
      during.body?.getReader()
      return secret
    },
  })
  await expect(verify(during)).rejects.toMatchObject({ code: 'ERR_BODY_NOT_RAW', status: 500 })
})

test('a fetch request whose sender hangs up is a rejection, with the reason as cause', async () => {
  const reason = new Error('socket closed')
  const body = new ReadableStream({ pull: (controller) => controller.error(reason) })
  const unreadable = { code: 'ERR_BODY_UNREADABLE', status: 400, cause: reason }
  await expect(make().verify(post(good.headers, body))).rejects.toMatchObject(unreadable)
})

test.each([undefined, null, 'text', 5, Buffer.from('{}'), new ArrayBuffer(2), () => undefined])(
  'verify(%s) is a caller mistake, and the error says what to pass',
  async (delivery) => {
    const verdict = make().verify(delivery as unknown as Delivery)
    await expect(verdict).rejects.toThrow(TypeError)
    await expect(verdict).rejects.toThrow('pass { body, headers }')
  },
)

test('an Express request fits as it is: raw verifies, parsed is rejected', async () => {
  const express = (body: unknown) => ({ headers: good.headers, body, method: 'POST' }) as unknown as Delivery
  expect(await getCode(make().verify(express(Buffer.from(good.body))))).toBe('ok')
  expect(await getCode(make().verify(express(snapshot)))).toBe('ERR_BODY_NOT_RAW')
})
