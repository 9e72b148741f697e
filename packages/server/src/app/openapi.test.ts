/** Answers conform to the OpenAPI document, and every documented status of every operation is answered. */
import { StoreError } from '@payment-integration/core'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { receiveUpdate } from '../../test/support/clause-service.js'
import { type DocumentCheck, documentCheck } from '../../test/support/document-check.js'
import type { Documented, SentRequest } from '../../test/support/documented-service.js'
import { hashes, send, signedUpdate, startDocumented, wallet } from '../../test/support/documented-service.js'
import { chosenService, goodAuthorization } from '../../test/support/integration-service.js'
import { listenApp, listenTempApp } from '../../test/support/listening-app.js'
import { createRequestLimits } from '../limits/request-limits.js'
import { createHealth } from './health.js'
import { verdictPath } from './webhook-routes.js'

let documented: Documented
let check: DocumentCheck
let failing: Awaited<ReturnType<typeof listenApp>>
/** The error that every use case of the failing service throws. */
let failure: Error
const covered = new Set<string>()

beforeAll(async () => {
  documented = await startDocumented()
  check = documentCheck(await (await fetch(`${documented.url}/openapi.json`)).text())
  const raise = () => {
    throw failure
  }
  const fail = async () => raise()
  failing = await listenApp({
    service: chosenService({
      authenticate: async () => ({ integrationAddress: documented.shop.address }),
      queries: { forIntegration: () => ({ listPayments: fail, getPayment: fail }) },
      authenticateLegacy: async () => ({ keyId: 'lk_tests' }),
      legacy: { lookup: fail, verify: fail },
      applyUpdate: fail,
      identity: { ...documented.clauses.identity, share: fail },
    }),
    receiveUpdate,
    streams: { open: raise, close: () => undefined },
    health: createHealth({ store: { ping: () => Promise.reject(new Error('away')) }, indexers: [] }),
  })
})
afterAll(() => Promise.all([documented.stop(), failing.stop()]))

/** Sends a request, checks status and answer against the document, and records the coverage. */
async function expectDocumented(request: SentRequest, status: number, url = documented.url) {
  const answer = await send(url, request)
  const operation = check.find(request.method, request.target)
  expect([answer.status, ...check.answerFlaws(operation, answer)]).toEqual([status])
  covered.add(`${operation.operationId} ${status}`)
  const isJson = answer.headers.get('content-type') === 'application/json'
  return { ...answer, json: (isJson ? JSON.parse(answer.body) : {}) as Record<string, unknown> }
}
const without = ({ headers: _, ...request }: SentRequest): SentRequest => request

test('every operation has a success answer', async () => {
  const found = documented.good().map(({ method, target }) => check.find(method, target).operationId)
  expect(found.sort()).toEqual(check.operations.map(({ operation }) => operation.operationId).sort())
  for (const request of documented.good()) await expectDocumented(request, 200)
})

describe('the read API', () => {
  it.each(['/payments', `/wallet/${wallet}/payments`])(
    '%s pages, and rejects invalid limits, cursors and bodies',
    async (path) => {
      const first = await expectDocumented(documented.read(`${path}?limit=2`), 200)
      const next = await expectDocumented(documented.read(`${path}?cursor=${first.json['nextCursor']}`), 200)
      expect(next.json).toMatchObject({ payments: [{ txHash: hashes.single }], nextCursor: null })
      expect((await expectDocumented(documented.read(`${path}?limit=0`), 400)).json).toMatchObject({ maxLimit: 200 })
      await expectDocumented(documented.read(`${path}?cursor=x`), 400)
      await expectDocumented({ ...documented.read(path), body: '{}' }, 400)
      await expectDocumented(without(documented.read(path)), 401)
    },
  )

  it.each(['/payments', `/wallet/${wallet}/payments`])('%s/{txHash} finds one, none or too many', async (path) => {
    await expectDocumented(documented.read(`${path}/${hashes.single}`), 200)
    await expectDocumented(documented.read(`${path}/0x12`), 400)
    await expectDocumented(without(documented.read(`${path}/${hashes.single}`)), 401)
    await expectDocumented(documented.read(`${path}/${hashes.unknown}`), 404)
    await expectDocumented(documented.read(`${path}/${hashes.onTwoChains}`), 409)
  })

  it('rejects a wallet that is no address', async () => {
    await expectDocumented(documented.read('/wallet/0x12/payments'), 400)
    await expectDocumented(documented.read(`/wallet/0x12/payments/${hashes.single}`), 400)
  })
})

describe('the legacy API', () => {
  it('looks up', async () => {
    await expectDocumented(documented.lookup(`1/${hashes.single}`), 200)
    await expectDocumented(documented.lookup('x/y'), 400)
    await expectDocumented({ ...documented.lookup(`1/${hashes.single}`), body: '{}' }, 400)
    await expectDocumented(without(documented.lookup(`1/${hashes.single}`)), 401)
    await expectDocumented(documented.lookup(`1/${hashes.unknown}`), 404)
  })

  it('verifies', async () => {
    const { payment, verify } = documented
    await expectDocumented(verify(JSON.stringify(payment)), 200)
    await expectDocumented(verify('{'), 400)
    await expectDocumented(verify('{}'), 400)
    await expectDocumented(without(verify('{}')), 401)
    await expectDocumented(verify(JSON.stringify({ ...payment, txHash: hashes.unknown })), 404)
    const other = JSON.stringify({ ...payment, invoiceAmount: '1', address: 'nobody' })
    expect((await expectDocumented(verify(other), 409)).json).toMatchObject({ payments: [{ verified: false }] })
    await expectDocumented(verify(JSON.stringify(payment).padEnd(16_385)), 413)
    await expectDocumented(verify(JSON.stringify(payment), ['Content-Type: text/plain']), 200)
    await expectDocumented(verify(JSON.stringify(payment), ['Content-Type: text/plain; charset=utf-16']), 400)
  })
})

test('processor updates are applied, kept or rejected', async () => {
  const update = (id: string, change: object) => signedUpdate({ id, chainId: '1', txHash: hashes.single, ...change })
  await expectDocumented(update('1', { state: 'refund_success' }), 200)
  const same = await expectDocumented(update('2', { state: 'refund_success' }), 200)
  expect(same.json).toMatchObject({ outcome: 'unchanged' })
  const repeated = { id: '1', chainId: '1', txHash: hashes.single, state: 'refund_success' }
  const several = signedUpdate({ updates: [repeated, { ...repeated, state: 'pending' }] })
  expect((await expectDocumented(several, 200)).json).toMatchObject({
    results: [{ outcome: 'applied' }, { id: '1', error: expect.any(String) }],
  })
  await expectDocumented(update('3', { txHash: hashes.unknown, state: 'pending' }), 202)
  await expectDocumented(signedUpdate({ id: '4' }), 400)
  await expectDocumented({ ...update('5', {}), headers: ['Content-Type: application/json'] }, 401)
  await expectDocumented(update('1', { state: 'pending' }), 409)
  await expectDocumented({ ...update('6', {}), body: ' '.repeat(131_073) }, 413)
  await expectDocumented({ ...update('7', {}), headers: ['Content-Type: text/plain'] }, 415)
  await expectDocumented(update('8', { state: 'pending' }), 422)
})

test('the updates endpoint is 404 without a processor', async () => {
  const { url } = await listenTempApp({ receiveUpdate: null })
  await expectDocumented(signedUpdate({}), 404, url)
})

describe('the stream of deliveries', () => {
  const stream = (query = '', headers: readonly string[] = []): SentRequest => {
    const request = documented.read(`/deliveries/stream${query}`)
    return { ...request, headers: [...(request.headers ?? []), ...headers] }
  }

  it('sends the documented events, and rejects invalid positions, times and bodies', async () => {
    const { body } = await expectDocumented(stream('?since=0'), 200)
    const events = [...body.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)
    expect(events.at(0)).toBe('ready')
    expect(events.at(-1)).toBe('live')
    await expectDocumented(stream('', ['Last-Event-ID: x']), 400)
    await expectDocumented(stream('?since=x'), 400)
    await expectDocumented({ ...stream(), body: '{}' }, 400)
    await expectDocumented(without(stream()), 401)
  })

  it('is 404 when it is off, and 429 when too many are open', async () => {
    const headers = [`Authorization: ${goodAuthorization}`]
    const off = await listenTempApp()
    await expectDocumented({ ...stream(), headers }, 404, off.url)
    const full = await listenTempApp({ streams: { open: () => null, close: () => undefined } })
    const answer = await expectDocumented({ ...stream(), headers }, 429, full.url)
    expect(answer.headers.get('retry-after')).toBe('5')
  })
})

describe('sharing a verification', () => {
  const body = (email: string, kycShareToken = documented.clauses.mint()) => JSON.stringify({ email, kycShareToken })

  it('answers each stage that the interface names', async () => {
    const { provider } = documented.clauses
    const share = async () => (await expectDocumented(documented.share(body('stages@shop.example')), 200)).json
    const newest = () => provider.redemptions.at(-1)?.applicantId ?? ''
    expect(await share()).toMatchObject({ reviewStatus: 'pending', reused: true })
    expect(await share()).toMatchObject({ reviewStatus: 'pending', reused: false })
    provider.reject(newest(), { rejectType: 'RETRY', labels: ['BAD_SELFIE'] })
    await provider.deliverWebhooks()
    expect(await share()).toMatchObject({ reviewStatus: 'pending', reused: true })
    provider.approve(newest())
    await provider.deliverWebhooks()
    expect(await share()).toMatchObject({ reviewStatus: 'completed', reviewAnswer: 'GREEN', reused: false })
  })

  it('rejects malformed, oversized, non-JSON and unauthenticated requests', async () => {
    await expectDocumented(documented.share('{'), 400)
    await expectDocumented(documented.share('{"email":"user@","kycShareToken":"t"}'), 400)
    await expectDocumented(documented.share('{"email":"user@shop.example","kycShareToken":""}'), 400)
    await expectDocumented(without(documented.share('{}')), 401)
    await expectDocumented(documented.share(' '.repeat(16_385)), 413)
    await expectDocumented(documented.share(body('user@shop.example'), ['Content-Type: text/plain']), 400)
  })

  it('is 404 when it is off', async () => {
    const off = await listenTempApp()
    const request = documented.share(body('user@shop.example'), undefined, goodAuthorization)
    await expectDocumented(request, 404, off.url)
  })

  it('is rejected for a user whose verification another integration shared', async () => {
    const { authorization } = await documented.clauses.createShop(`0x${'e2'.repeat(20)}`)
    await expectDocumented(documented.share(body('donated@shop.example')), 200)
    await expectDocumented(documented.share(body('donated@shop.example'), undefined, authorization), 409)
  })

  it('answers the message of the provider about a used token', async () => {
    const token = documented.clauses.mint()
    await expectDocumented(documented.share(body('first@shop.example', token)), 200)
    const { json } = await expectDocumented(documented.share(body('second@shop.example', token)), 422)
    expect(json).toMatchObject({ message: expect.stringContaining('Token is invalid') })
  })

  it.each([
    [401, 502],
    [429, 503],
  ])('when the provider answers %i is %i', async (answer, status) => {
    documented.clauses.provider.fail({ on: 'reuse', at: 'before', answer })
    const { headers } = await expectDocumented(documented.share(body(`${answer}@shop.example`)), status)
    expect(headers.has('retry-after')).toBe(status === 503)
    // The wait that the provider asked for is over.
    documented.clauses.pass(60_000)
  })
})

describe('any operation', () => {
  const authorization = (request: SentRequest) =>
    request.headers?.filter((each) => each.startsWith('Authorization')) ?? []
  const type = 'Content-Type: application/json'

  it('rejects two content types', async () => {
    for (const request of documented.good()) {
      const headers = [...authorization(request), type, type]
      await expectDocumented({ ...request, headers }, 400)
    }
  })

  it('rejects malformed HTTP, without details', async () => {
    for (const request of documented.good()) {
      const headers = [...(request.headers ?? []), 'Host: localhost']
      const { json } = await expectDocumented({ ...request, headers }, 400)
      expect(json).toEqual({ error: 'Header host is given more than once' })
    }
  })

  it('rejects headers that are too large, for every caller', async () => {
    for (const request of documented.good())
      await expectDocumented({ ...request, headers: [`X: ${'a'.repeat(9_000)}`] }, 431)
  })

  it.each([
    ['a defect', new Error('secret detail'), 500, undefined],
    ['a database that is away', new StoreError('ERR_STORE_UNAVAILABLE', 'secret detail'), 503, '1'],
    ['a full disk', new StoreError('ERR_STORE_FULL', 'secret detail'), 503, undefined],
  ])('that asks the database survives %s', async (_, error, status, retryAfter) => {
    failure = error
    for (const request of documented.good().filter(({ target }) => !target.startsWith('/health'))) {
      const { headers, body } = await expectDocumented(request, status, failing.url)
      expect([headers.get('retry-after'), body.includes('secret')]).toEqual([retryAfter, false])
    }
  })

  it('of health reports that the database is away', async () => {
    const { json } = await expectDocumented({ method: 'GET', target: '/health' }, 503, failing.url)
    expect(json).toMatchObject({ status: 'down' })
  })
})

test('any operation but health is rate limited', async () => {
  const limits = createRequestLimits({ requestsPerSource: 1, clock: { now: () => 0 } })
  limits.countRequest('127.0.0.1')
  const limited = await listenTempApp({ limits })
  for (const request of documented.good()) {
    const isProbe = request.target.startsWith('/health')
    const { headers } = await expectDocumented(request, isProbe ? 200 : 429, limited.url)
    expect(headers.get('retry-after')).toBe(isProbe ? undefined : '1')
  }
})

test('headers and body of a notification match the documented webhook', async () => {
  await documented.clauses.deliver()
  const { post } = check.document.webhooks['paymentSnapshot'] ?? {}
  const { arrived } = documented.clauses.receiver
  if (post === undefined) throw new Error('the document has no webhook')
  expect(arrived.length).toBeGreaterThan(0)
  for (const { method, headers, body } of arrived) {
    const flaws = ['X-Service-Signature', 'X-Service-Integration'].flatMap((name) =>
      check.parameterFlaws(post, name, String(headers[name.toLowerCase()])),
    )
    expect([method, headers['content-type'], ...flaws]).toEqual(['POST', 'application/json'])
    expect(check.bodyFlaws(post, JSON.parse(body.toString('utf8')))).toEqual([])
  }
})

/** Documented statuses that are not provoked here, each with its reason. */
const notProvoked: Record<string, string> = {
  408: 'needs ten seconds of a silent client; run/http-server.test.ts and the hostile requests see it',
}

test('every documented status of every operation was answered, except listed ones with a reason', () => {
  const missing = check.pairs.filter((pair) => !covered.has(pair))
  expect(missing.filter((pair) => notProvoked[pair.split(' ')[1] ?? ''] === undefined)).toEqual([])
  expect([...covered].filter((pair) => !check.pairs.includes(pair))).toEqual([])
})

test('every served operation is documented, and every documented one is served', () => {
  const own = /^\/(openapi[.]json|reference(\/[^/]*)?)?$/
  // Its callers are the provider's machines, and its format is the provider's (docs/interface.md 6).
  const isOthers = (path: string) => path === verdictPath
  const served = documented.app.routes
    .filter(({ method, path }) => method !== 'ALL' && !own.test(path) && !isOthers(path))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  expect(documented.app.routes.some(({ path }) => isOthers(path))).toBe(true)
  expect(check.operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(served.sort())
})
