import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { startIdentityProvider } from '../src/exports/identity-provider.js'
import { asking, type Request, service, started } from './support.js'

interface Vector extends Readonly<Record<'name' | 'secretKey' | 'uri' | 'body' | 'signature', string>> {
  readonly timestamp: number
  readonly method: 'GET' | 'POST'
}
const file = new URL('../../../vectors/identity-signatures.json', import.meta.url)
/** Requests that OpenSSL signed. */
const { requests: vectors } = JSON.parse(readFileSync(file, 'utf8')) as { requests: readonly Vector[] }

test.each(vectors)('$name is accepted, and a request changed by one byte is not', async (vector) => {
  const { method, uri, signature, secretKey, timestamp } = vector
  const { ask } = await started({ clients: [{ ...service, secretKey }], clock: { now: () => timestamp * 1_000 } })
  const body = new Uint8Array(Buffer.from(vector.body, 'base64'))
  const headers = { 'X-App-Access-Sig': signature }
  const request: Request = { method, uri, headers, ...(body.length ? { body } : {}) }
  const accepted = await ask(request)
  expect([4000, 4001, 4003, 4004, 4006]).not.toContain(accepted.json['errorCode'])
  const changed = await ask({ ...request, uri: `${uri}${uri.includes('?') ? '&' : '?'}x` })
  expect(changed).toMatchObject({ status: 401, json: { errorCode: 4003 } })
})

describe('the signed time', () => {
  const status = { method: 'GET', uri: '/resources/applicants/none/status' } as const

  test.each([
    [-61, 401],
    [-60, 404],
    [0, 404],
    [60, 404],
    [61, 401],
  ])('%i seconds from the clock of the provider is answered %i', async (seconds, expected) => {
    const { provider, clock } = await started()
    const { status: answered, json } = await asking(provider, { now: () => clock.now() + seconds * 1_000 })(status)
    expect(answered).toBe(expected)
    if (expected === 401) expect(json).toMatchObject({ errorCode: 4004, description: 'Token expired' })
  })

  test.each(['1767225600000', '', ' ', 'now', '-1', '1.5', '1e9'])('%j is rejected', async (timestamp) => {
    const { ask } = await started()
    expect((await ask({ ...status, headers: { 'X-App-Access-Ts': timestamp } })).status).toBe(401)
  })
})

test.each([
  ['no app token', { 'X-App-Token': null }, 4006],
  ['no time', { 'X-App-Access-Ts': null }, 4006],
  ['no signature', { 'X-App-Access-Sig': null }, 4006],
  ['a malformed app token', { 'X-App-Token': 'a b' }, 4000],
  ['an unknown app token', { 'X-App-Token': 'sbx:nobody' }, 4001],
  ['the app token of another client', { 'X-App-Token': 'sbx:donor.token' }, 4003],
  ['a signature in upper case', { 'X-App-Access-Sig': 'A'.repeat(64) }, 4003],
  ['a short signature', { 'X-App-Access-Sig': 'ab' }, 4003],
])('%s is answered 401', async (_, headers, errorCode) => {
  const { ask } = await started()
  const answer = await ask({ method: 'GET', uri: '/resources/applicants/none/status', headers })
  expect(answer).toMatchObject({ status: 401, json: { code: 401, errorCode, correlationId: expect.any(String) } })
})

test.each([
  ['lacks a secret', [{ ...service, secretKey: '' }]],
  ['has the id of another', [service, { ...service, appToken: 'sbx:x' }]],
  ['has the app token of another', [service, { ...service, clientId: 'x' }]],
])('a client that %s keeps the provider from starting', async (_, clients) => {
  await expect(startIdentityProvider({ clients })).rejects.toThrow(TypeError)
})
