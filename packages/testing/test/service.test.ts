import { createClient, createLegacyClient } from '@payment-integration/client'
import { setupServer } from 'msw/node'
import { expect, onTestFinished, test } from 'vitest'
import { createTestService, type TestServiceOptions } from '../src/exports/msw.js'

const baseUrl = 'https://service.test/base'
const patience = { retryDelayMs: 1, timeoutMs: 600_000, totalTimeoutMs: 600_000 }

/** A test service behind msw, with an integration and the real client. */
async function setUp({ baseUrl: address = baseUrl }: Partial<TestServiceOptions> = {}) {
  const service = await createTestService({ baseUrl: `${address}/` })
  const server = setupServer(...service.handlers)
  server.listen({ onUnhandledRequest: 'error' })
  onTestFinished(async () => {
    server.close()
    await service.close()
  })
  const { address: integrationAddress, apiSecret } = await service.addIntegration()
  const client = createClient({ baseUrl: address, integrationAddress, apiSecret, ...patience })
  return { service, integrationAddress, client }
}
const getCode = (call: Promise<unknown>) => call.catch((error: { code: string }) => error.code)

test('the client reads its payments over pages, and none of another integration', async () => {
  const { service, integrationAddress, client } = await setUp()
  const hashes: string[] = []
  for (let n = 0; n < 5; n += 1) hashes.unshift((await service.pay({ integrationAddress })).txHash)
  const other = await service.addIntegration()
  await service.pay({ integrationAddress: other.address })
  const listed: string[] = []
  for await (const { txHash } of client.payments.iterate({ pageSize: 3 })) listed.push(txHash)
  expect(listed).toEqual(hashes)
  expect(service.requests.map((request) => request.replace(/=[^&]*/g, ''))).toEqual([
    'GET /api/v1/integration/payments?limit',
    'GET /api/v1/integration/payments?limit&cursor',
  ])
})

test('an update of the processor appears in the payment, before and after a restart', async () => {
  const { service, integrationAddress, client } = await setUp()
  const payment = await service.pay({ integrationAddress })
  await service.update(payment, { state: 'pending' })
  await service.restart()
  await service.update(payment, { state: 'success' })
  expect(await client.payments.get(payment.txHash)).toMatchObject({ version: 3, state: 'success' })
  expect((await service.service.queries.forIntegration(integrationAddress).listPayments({})).payments).toHaveLength(1)
})

test('the legacy API looks up and verifies, for an account by its handle', async () => {
  const { service, integrationAddress } = await setUp()
  const legacy = createLegacyClient({ baseUrl, apiKey: await service.addLegacyKey(), ...patience })
  const receiver = `0x${'5a'.repeat(20)}`
  const coins = [{ chainId: 137, tokens: [{ symbol: 'USDC' }] }]
  await service.service.accounts.create({ handle: 'mara', address: receiver, config: { coins } })
  const { txHash } = await service.pay({ integrationAddress, receiver, amount: '12.50', memo: 'order-7' })
  const lookup = await legacy.lookup({ chainId: 137, txHash })
  expect(lookup.payments).toMatchObject([{ receiver, memo: 'order-7' }])
  const [item] = lookup.payments
  const invoice = { invoiceAmount: String(item?.invoiceAmount), invoiceCurrency: String(item?.invoiceCurrency) }
  const request = { chainId: 137, txHash, ...invoice, address: 'Mara' }
  expect((await legacy.verify(request)).payments).toMatchObject([{ verified: true }])
  await expect(legacy.verify({ ...request, address: 'nobody' })).rejects.toMatchObject({
    code: 'ERR_VERIFICATION_FAILED',
    verificationErrors: ['Invalid payment address'],
  })
})

test('after a lost answer of the service the retried share redeems no second token', async () => {
  const { service, client } = await setUp()
  const kycShareToken = service.identity.shareToken()
  service.failNext({ status: 'network', afterEffect: true })
  const share = () => client.identity.share({ email: 'ada@example.com', kycShareToken })
  expect(await share()).toMatchObject({ kind: 'in_flight', redeemed: false })
  expect(service.identity.provider.redemptions).toHaveLength(1)
  await service.identity.approve(kycShareToken)
  expect(await share()).toMatchObject({ kind: 'approved', redeemed: false })
})

test('faults hit the next requests in order: the client retries and succeeds', async () => {
  const { service, client } = await setUp()
  service.failNext({ status: 503, retryAfter: 0 })
  service.failNext({ status: 'network' })
  expect((await client.payments.list()).payments).toEqual([])
  expect(service.requests).toHaveLength(3)
})

test.each([204, 205, 304])('a fault of status %i is answered without a body', async (status) => {
  const { service } = await setUp()
  service.failNext({ status })
  const answer = await fetch(`${baseUrl}/health`)
  expect([answer.status, await answer.text()]).toEqual([status, ''])
})

test('a fault without an end hits every request', async () => {
  const { service } = await setUp()
  service.failNext({ status: 503, times: Number.POSITIVE_INFINITY })
  for (let request = 0; request < 3; request += 1) expect((await fetch(`${baseUrl}/health`)).status).toBe(503)
})

test('a fault with enough repetitions exhausts the retries of the client', async () => {
  const { service, client } = await setUp()
  service.failNext({ status: 502, times: 3, body: { error: 'Bad gateway' } })
  expect(await getCode(client.payments.list())).toMatch(/^ERR_/)
  expect(service.requests).toHaveLength(3)
})

test.each([undefined, {}, 503, { status: '503' }, { status: 99 }, { status: 600 }, { code: 503 }])(
  'a fault of %j is a TypeError, and hits no request',
  async (fault) => {
    const { service, client } = await setUp()
    const add = () => service.failNext(fault as Parameters<typeof service.failNext>[0])
    expect(add).toThrow(/failNext must get { status }/)
    expect((await client.payments.list()).payments).toEqual([])
  },
)

test('an address without a prefix is answered, too', async () => {
  const { service, integrationAddress, client } = await setUp({ baseUrl: 'https://payments.test' })
  await service.pay({ integrationAddress })
  expect((await client.payments.list()).payments).toHaveLength(1)
})

test.each([undefined, '', 'service.test', 7])('the address %j is a TypeError', async (address) => {
  await expect(createTestService({ baseUrl: address as string })).rejects.toThrow(/baseUrl is no URL/)
})
