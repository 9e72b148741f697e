import type { UpdateResult } from '@payment-integration/contract'
import { createUpdateReceiver, UpdateConflictError } from '@payment-integration/core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chosenService, signBody, txHash } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'

const now = 1_790_000_000_000
const secret = 'processor-secret-current'
const receiveUpdate = createUpdateReceiver({ secrets: [secret], clock: { now: () => now } })
const path = '/api/v1/processor/updates'
const update = { id: 'update-1', chainId: '1', txHash, state: 'success' }

let outcomes: PromiseSettledResult<UpdateResult>[] = []
const service = chosenService({
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
})

const sign = (body: string, by = secret) => signBody(body, by, now / 1_000)

function post(body: string, by = secret) {
  const headers = { 'content-type': 'application/json', 'x-service-signature': sign(body, by) }
  return fetch(`${server.url}${path}`, { method: 'POST', body, headers })
}

/** Longer than one update may be, in a request that is not too long. */
const long = { recipient: { title: 'x'.repeat(16_384), subtitle: null } }

async function expectRejected(body: object) {
  const answer = await post(JSON.stringify(body))
  expect([answer.status, await answer.json()]).toEqual([400, { error: expect.any(String) }])
  expect(service.calls).toEqual([])
}

it('an update that another secret signed just now is 401 and reaches no use case', async () => {
  const answer = await post(JSON.stringify(update), 'another-secret-altogether')
  expect([answer.status, await answer.text()]).toEqual([401, '{"error":"Unauthorized"}'])
  expect(service.calls).toEqual([])
})

describe('several updates in one request', () => {
  const updates = [update, { ...update, id: 'update-2', state: 'refund_pending' }]

  it('are 200 with the result of each, in their order, a conflict among them', async () => {
    const value: UpdateResult = { id: 'update-1', outcome: 'rejected', version: 3, reason: 'no' }
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
    ['one of more than 16 KB', { updates: [{ ...update, ...long }] }],
  ])('with %s are 400 and reach no use case', (_, body) => expectRejected(body))
})

it('a single update of more than 16 KB is 400 and reaches no use case', () => expectRejected({ ...update, ...long }))

describe('the body cap of 128 KB', () => {
  const padded = (size: number) => JSON.stringify(update).padEnd(size, ' ')

  it.each([
    [131_072, 200, expect.objectContaining({ outcome: 'applied' })],
    [131_073, 413, { error: 'Body is larger than 131072 bytes' }],
  ])('%i bytes are %i, with a length and in chunks', async (size, status, expected) => {
    const body = padded(size)
    const answer = await post(body)
    expect([answer.status, await answer.json()]).toEqual([status, expected])
    const signature = `X-Service-Signature: ${sign(body)}`
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked', signature]
    const chunks = `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const raw = await sendRaw(server.url, requestText(path, headers, { method: 'POST', body: chunks }))
    expect(parseRaw(raw).status).toBe(status)
  })

  it('rejects a chunked body while it arrives', async () => {
    const chunk = `8000\r\n${'a'.repeat(32_768)}\r\n`
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    const text = requestText(path, headers, { method: 'POST', body: chunk.repeat(5) })
    expect(parseRaw(await sendRaw(server.url, text)).status).toBe(413)
  })
})
