import type { UpdateResult } from '@payment-integration/contract'
import { createUpdateReceiver, UpdateConflictError } from '@payment-integration/core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chosenService, signBody, txHash } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'

const now = 1_790_000_000_000
const secrets = ['processor-secret-current', 'processor-secret-previous']
const receiveUpdate = createUpdateReceiver({ secrets, clock: { now: () => now } })
const path = '/api/v1/processor/updates'
const update = { id: 'update-1', chainId: '1', txHash, state: 'success' }

let outcome: UpdateResult | Error
let outcomes: PromiseSettledResult<UpdateResult>[] = []
const service = chosenService({
  async applyUpdate(given) {
    service.calls.push(given.id)
    if (outcome instanceof Error) throw outcome
    return outcome
  },
  async applyUpdates(given) {
    service.calls.push(given.map(({ id }) => id).join(' '))
    return outcomes
  },
})
let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp({ service, receiveUpdate })
})
afterAll(() => server.stop())
beforeEach(() => {
  service.calls.length = 0
  outcome = { id: 'update-1', outcome: 'applied', version: 2, reason: null }
})

const sign = (body: string, secret = secrets[0] ?? '') => signBody(body, secret, now / 1_000)

function post(body: string, headers: Record<string, string> = {}) {
  return fetch(`${server.url}${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-service-signature': sign(body), ...headers },
  })
}

describe('a processor update', () => {
  it.each([
    ['a forged signature is 401', `t=${now / 1000},v1=${'0'.repeat(64)}`, 'application/json', 401],
    ['another secret is 401', sign(JSON.stringify(update), 'another-secret-altogether'), 'application/json', 401],
    ['another content type is 415', sign(JSON.stringify(update)), 'text/plain', 415],
  ])('with %s, and reaches no use case', async (_, signature, type, status) => {
    const answer = await post(JSON.stringify(update), { 'x-service-signature': signature, 'content-type': type })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, 'private, no-store'])
    expect(service.calls).toEqual([])
  })

  it.each([
    ['an unknown state', JSON.stringify({ ...update, state: 'done' })],
    ['more than 16 KB', JSON.stringify({ ...update, recipient: { title: 'x'.repeat(16_384), subtitle: null } })],
  ])('with %s is 400 and reaches no use case', async (_, body) => {
    const answer = await post(body)
    expect([answer.status, await answer.json()]).toEqual([400, { error: expect.any(String) }])
    expect(service.calls).toEqual([])
  })
})

describe('several updates in one request', () => {
  const updates = [update, { ...update, id: 'update-2', state: 'refund_pending' }]

  it('are 200 with the result of each, in their order, a conflict among them', async () => {
    const value: UpdateResult = { id: 'update-1', outcome: 'refused', version: 3, reason: 'no' }
    outcomes = [
      { status: 'fulfilled', value },
      { status: 'rejected', reason: new UpdateConflictError('update-2') },
    ]
    const answer = await post(JSON.stringify({ updates }))
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { results: [value, { id: 'update-2', error: expect.stringContaining('under a new id') }] },
    ])
    expect(service.calls).toEqual(['update-1 update-2'])
  })

  it.each([
    ['none', { updates: [] }],
    ['101', { updates: Array.from({ length: 101 }, (_, n) => ({ ...update, id: `u${n}` })) }],
    ['one that is malformed', { updates: [update, { ...update, chainId: 1 }] }],
    ['an unknown field beside them', { updates, more: 1 }],
    ['one of more than 16 KB', { updates: [{ ...update, recipient: { title: 'x'.repeat(16_384), subtitle: null } }] }],
  ])('with %s are 400 and reach no use case', async (_, body) => {
    const answer = await post(JSON.stringify(body))
    expect([answer.status, await answer.json()]).toEqual([400, { error: expect.any(String) }])
    expect(service.calls).toEqual([])
  })
})

describe('the body cap of 128 KB', () => {
  const padded = (size: number) => JSON.stringify(update).padEnd(size, ' ')

  it.each([
    [131_072, 200, expect.objectContaining({ outcome: 'applied' })],
    [131_073, 413, { error: 'Body is larger than 131072 bytes' }],
  ])('%i bytes are %i, with a length and in chunks', async (size, status, expected) => {
    const body = padded(size)
    const answer = await post(body)
    expect([answer.status, await answer.json()]).toEqual([status, expected])
    const headers = [
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      `X-Service-Signature: ${sign(body)}`,
    ]
    const chunks = `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const raw = await sendRaw(server.url, requestText(path, headers, { method: 'POST', body: chunks }))
    expect(parseRaw(raw).status).toBe(status)
  })

  it('rejects by the announced length before the body arrives', async () => {
    const headers = ['Content-Type: application/json', 'Content-Length: 100000000']
    const answer = parseRaw(await sendRaw(server.url, requestText(path, headers, { method: 'POST' })))
    expect(answer.status).toBe(413)
  })

  it('rejects a chunked body while it arrives', async () => {
    const chunk = `8000\r\n${'a'.repeat(32_768)}\r\n`
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    const text = requestText(path, headers, { method: 'POST', body: chunk.repeat(5) })
    expect(parseRaw(await sendRaw(server.url, text)).status).toBe(413)
  })
})
