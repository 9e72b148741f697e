import { createClient, createLegacyClient } from '@payment-integration/client'
import { type PaymentBody, paymentStates } from '@payment-integration/contract'
import { setupServer } from 'msw/node'
import { afterEach, expect, test } from 'vitest'
import { decideTransition } from '../../core/src/payments/transition.js'
import { createBuilders } from '../src/exports/index.js'
import { createTestService } from '../src/exports/msw.js'

const baseUrl = 'https://service.test/base'
const integrationAddress = `0x${'ab'.repeat(20)}`
const apiSecret = 'a secret of the tests'
const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

function setup() {
  const service = createTestService({
    baseUrl: `${baseUrl}/`,
    integrations: [
      { address: integrationAddress, apiSecret },
      { address: `0x${'cd'.repeat(20)}`, apiSecret: 'of another' },
    ],
    legacyKeys: ['legacy-key'],
  })
  const server = setupServer(...service.handlers)
  server.listen({ onUnhandledRequest: 'error' })
  stops.push(() => server.close())
  const build = createBuilders({ integrationAddress })
  const client = createClient({ baseUrl, integrationAddress, apiSecret, retryDelayMs: 1 })
  return { service, build, client, legacy: createLegacyClient({ baseUrl, apiKey: 'legacy-key', retryDelayMs: 1 }) }
}
const codeOf = (call: Promise<unknown>) => call.catch((error: { code: string }) => error.code)

test('the client reads the recorded payments, over pages, and none of another integration', async () => {
  const { service, build, client } = setup()
  const mine = Array.from({ length: 7 }, () => build.payment())
  for (const payment of mine) service.record(payment)
  service.record(createBuilders({ seed: 2, integrationAddress: `0x${'cd'.repeat(20)}` }).payment())
  const seen: unknown[] = []
  for await (const payment of client.payments.iterate({ pageSize: 3 })) seen.push(payment)
  expect(seen).toEqual(build.page(mine).payments)
  expect(service.requests.filter((request) => request.startsWith('GET /api/v1/integration/payments?'))).toHaveLength(3)
})

test.each<[unknown, RegExp]>([
  [undefined, /baseUrl is missing/],
  [{}, /baseUrl is missing/],
  [{ baseUrl }, /integrations must be a list/],
  [{ baseUrl, integrations: { address: integrationAddress, apiSecret } }, /integrations must be a list/],
  [
    { baseUrl, integrations: [{ integrationAddress, apiSecret }] },
    /integrations must be a list of { address, apiSecret }/,
  ],
  [{ baseUrl, integrations: [null] }, /integrations must be a list/],
  [{ baseUrl, integrations: [], legacyKeys: 'key' }, /legacyKeys must be a list/],
  [
    { baseUrl, integrations: [], apiKeys: ['key'] },
    /apiKeys is no option; there are baseUrl, integrations and legacyKeys/,
  ],
])('the options %j are a TypeError that names the flaw', (options, message) => {
  const make = () => createTestService(options as Parameters<typeof createTestService>[0])
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
})

test.each([undefined, {}, 503, { status: '503' }, { status: 99 }, { status: 600 }, { code: 503 }])(
  'a fault of %j is a TypeError, and hits no request',
  async (fault) => {
    const { service, client } = setup()
    const add = () => service.failNext(fault as Parameters<typeof service.failNext>[0])
    expect(add).toThrow(TypeError)
    expect(add).toThrow(/failNext must get { status }/)
    expect((await client.payments.list()).payments).toEqual([])
  },
)

test('a change adds 1 to the version, appears in the read API, and returns the snapshot to deliver', async () => {
  const { service, build, client } = setup()
  const payment = build.payment({ state: 'pending', version: 1 })
  expect(service.record(payment)).toEqual(expect.objectContaining({ txHash: payment.txHash, version: 1 }))
  const snapshot = service.change({ txHash: payment.txHash }, { state: 'success', recipient: null })
  expect(snapshot).toEqual({
    integrationAddress,
    chainId: payment.chainId,
    txHash: payment.txHash,
    version: 2,
    state: 'success',
    recipient: null,
    invoice: payment.invoice,
  })
  expect(await client.payments.get(payment.txHash)).toEqual({ ...payment, ...snapshot })
})

test('a forgotten payment is not found', async () => {
  const { service, build, client } = setup()
  const { txHash } = service.record(build.payment())
  service.forget({ txHash })
  expect(await codeOf(client.payments.get(txHash))).toBe('ERR_NOT_FOUND')
  expect(service.all()).toEqual([])
})

test('a key that matches no payment, or two, is a RangeError, and changes nothing', () => {
  const { service, build } = setup()
  const txHash = build.txHash()
  for (const chainId of ['1', '10']) service.record(build.payment({ txHash, chainId, version: 1, state: 'pending' }))
  expect(() => service.change({ txHash }, { state: 'success' })).toThrow(RangeError)
  expect(() => service.forget({ txHash: build.txHash() })).toThrow(RangeError)
  expect(service.change({ txHash, chainId: '10' }, { state: 'success' }).version).toBe(2)
  expect(service.all().map(({ version }) => version)).toEqual([2, 1])
})

test('an empty change makes no version, and returns the stored snapshot', () => {
  const { service, build } = setup()
  const payment = build.payment({ version: 4, recipient: { title: 'Corner Books', subtitle: null }, state: 'success' })
  const { txHash } = payment
  const stored = service.record(payment)
  for (const nothing of [{}, { state: 'success' }, { recipient: { subtitle: null, title: 'Corner Books' } }] as const)
    expect(service.change({ txHash }, nothing)).toEqual(stored)
  expect(service.change({ txHash }, {}, { force: true })).toEqual(stored)
  expect(service.change({ txHash }, { recipient: { title: 'Corner Books', subtitle: 'Berlin' } }).version).toBe(5)
  expect(service.change({ txHash }, { recipient: null }).version).toBe(6)
})

const everyState: readonly PaymentBody['state'][] = [null, ...paymentStates]
test.each(everyState.flatMap((from) => everyState.map((to) => [from, to] as const)))(
  'a change from %s to %s is accepted or refused like in the service, and can be forced',
  (from, to) => {
    const { service, build } = setup()
    const { txHash } = service.record(build.payment({ version: 1, state: from }))
    const change = (options?: { force: boolean }) => service.change({ txHash }, { state: to }, options)
    const verdict = decideTransition(from, to)
    if (verdict === 'refused') {
      expect(() => change()).toThrow(RangeError)
      expect(() => change({ force: false })).toThrow(`from ${from} to ${to}`)
      expect(service.all()).toMatchObject([{ version: 1, state: from }])
    }
    expect(change({ force: verdict === 'refused' })).toMatchObject({ version: from === to ? 1 : 2, state: to })
  },
)

test('a lower version than the stored one is rejected until the payment is forgotten', () => {
  const { service, build } = setup()
  const payment = build.payment({ version: 3 })
  service.record(payment)
  expect(() => service.record({ ...payment, version: 2 })).toThrow(RangeError)
  expect(service.all()).toEqual([payment])
  expect(service.record({ ...payment, memo: 'again' } as PaymentBody).version).toBe(3)
  expect(service.record({ ...payment, version: 7 }).version).toBe(7)
  service.forget({ txHash: payment.txHash })
  expect(service.record({ ...payment, version: 1 }).version).toBe(1)
})

test('recording a payment that breaks the contract is an error', () => {
  const { service, build } = setup()
  expect(() => service.record({ ...build.payment(), state: 'paid' as never })).toThrow()
})

test('faults hit the next requests in order: the client retries and succeeds', async () => {
  const { service, build, client } = setup()
  service.record(build.payment())
  service.failNext({ status: 503, retryAfter: 0 })
  service.failNext({ status: 'network' })
  expect((await client.payments.list()).payments).toHaveLength(1)
  expect(service.requests).toHaveLength(3)
})

test('a fault with enough repetitions exhausts the retries of the client', async () => {
  const { service, client } = setup()
  service.failNext({ status: 502, times: 3, body: { error: 'Bad gateway' } })
  expect(await codeOf(client.payments.list())).toMatch(/^ERR_/)
  expect(service.requests).toHaveLength(3)
})

test('after a lost answer the retried share does not redeem the token again', async () => {
  const { service, build, client } = setup()
  const submission = build.shareRequest()
  service.failNext({ status: 'network', afterEffect: true })
  expect(await client.identity.share(submission)).toMatchObject({ kind: 'in_flight', redeemed: false })
  expect(service.identity.redeemed).toEqual([submission.kycShareToken])
})

test('a test decides the results of a share', async () => {
  const { service, build, client } = setup()
  const { email, kycShareToken } = build.shareRequest()
  const share = (token: string, of = email) => client.identity.share({ email: of, kycShareToken: token })
  expect(await share(kycShareToken)).toMatchObject({ kind: 'in_flight', redeemed: true })
  service.identity.move(email, 'onHold')
  expect(await share('second')).toMatchObject({ kind: 'in_flight', status: 'onHold', redeemed: false })
  service.identity.decide(email, 'GREEN')
  expect(await share('second')).toMatchObject({ kind: 'approved', redeemed: false })
  expect(await codeOf(share(kycShareToken, 'b@example.com'))).toBe('ERR_SHARE_TOKEN_REJECTED')
  service.identity.rejectToken('unready', 'applicant is not approved')
  await expect(share('unready', 'b@example.com')).rejects.toMatchObject({
    providerMessage: 'applicant is not approved',
  })
  for (const rejectType of ['RETRY', 'FINAL'] as const) {
    const user = `${rejectType}@example.com`
    await share(`token of ${rejectType}`, user)
    service.identity.decide(user, 'RED', { rejectType, rejectLabels: ['BAD_SELFIE'] })
    await expect(share(`token of ${rejectType}`, user)).rejects.toMatchObject({ formerVerdict: { rejectType } })
    expect(await share(`fresh token of ${rejectType}`, user)).toMatchObject({ kind: 'in_flight', redeemed: true })
  }
  service.identity.verifyElsewhere('c@example.com')
  expect(await codeOf(share('third', 'c@example.com'))).toBe('ERR_VERIFICATION_UNAVAILABLE')
  service.identity.enabled = false
  expect(await codeOf(share('third'))).toBe('ERR_SHARING_DISABLED')
  expect(service.identity.redeemed).toHaveLength(5)
  expect(() => service.identity.decide('nobody@example.com', 'GREEN')).toThrow(RangeError)
})

test('spellings of one mailbox are one user, in the controls too', async () => {
  const { service, client } = setup()
  const share = (email: string) => client.identity.share({ email, kycShareToken: `token of ${email}` })
  expect(await share('René@Bücher.example')).toMatchObject({ redeemed: true })
  for (const email of ['rene\u0301@xn--bcher-kva.example', 'RENÉ@BÜCHER.example.', 'rené@bücher\u3002example'])
    expect(await share(email), email).toMatchObject({ kind: 'in_flight', redeemed: false })
  service.identity.decide(' rené@XN--BCHER-KVA.example. ', 'GREEN')
  expect(await share('rené@bücher.example')).toMatchObject({ kind: 'approved', redeemed: false })
  for (const email of ['rene@bücher.example', 'rené@bucher.example', 'rené@www.bücher.example'])
    expect(await share(email), email).toMatchObject({ redeemed: true })
})

test('verify resolves accounts by handle, and answers every reason', async () => {
  const { service, build, legacy } = setup()
  const item = build.lookupItem({ invoiceAmount: '12.50', invoiceCurrency: 'USD' })
  const lookup = build.lookup({ payments: [item] })
  service.legacy.record(lookup)
  const coins = [{ chainId: lookup.chainId, tokens: [{ symbol: 'USDC' }] }]
  service.legacy.addAccount({ address: item.receiver, handle: 'mara', config: { coins } })
  const { chainId, txHash } = lookup
  const request = { chainId, txHash, invoiceAmount: '12.5', invoiceCurrency: 'USD', address: 'Mara' }
  expect((await legacy.verify(request)).payments).toMatchObject([{ verified: true }])
  await expect(legacy.verify({ ...request, invoiceAmount: '1', address: 'nobody' })).rejects.toMatchObject({
    code: 'ERR_VERIFICATION_FAILED',
    verificationErrors: ['Invalid payment address', 'Invalid payment amount'],
  })
  service.legacy.addAccount({ address: build.address(), handle: 'other', config: { coins: [] } })
  await expect(legacy.verify({ ...request, address: 'other' })).rejects.toMatchObject({
    verificationErrors: ['Payment does not match link configuration', 'Invalid payment address'],
  })
})

test('the log of requests holds no header', async () => {
  const { service, client } = setup()
  await client.payments.list()
  expect(JSON.stringify(service)).not.toContain(apiSecret)
  expect(service.requests).toEqual(['GET /api/v1/integration/payments'])
})
