import { createBuilders, createDeliveries, type SignedDelivery } from '@payment-integration/testing'
import { runDoctor } from '@payment-integration/testing/doctor'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningWorker, runWorker } from './workerd.js'

const secret = 'whsec_of_the_worker'
const shopToken = 'token_of_the_shop'
const invoice = { amount: '12.5', currency: 'EUR', settlementAmount: '13.61', settlementCurrency: 'USD' }
const order = { id: 'order-1', price: '12.50', currency: 'EUR' }
const deliveries = createDeliveries({ secret })
const build = createBuilders({ seed: 11 })
type Snapshot = ReturnType<typeof build.snapshot>

describe('in workerd', () => {
  let worker: RunningWorker
  beforeAll(async () => {
    worker = await runWorker({ secret, shopToken })
  })
  afterAll(() => worker?.remove())

  const post = async (delivery: SignedDelivery | Promise<SignedDelivery>) =>
    (await fetch(`${worker.url}/webhook`, { method: 'POST', ...(await delivery) })).status
  const ask = ({ integrationAddress, chainId, txHash }: Snapshot, init: RequestInit = {}, token = shopToken) =>
    fetch(`${worker.url}/orders/${integrationAddress}/${chainId}/${txHash}`, {
      headers: { authorization: `Bearer ${token}` },
      ...init,
    })
  const getSale = async (snapshot: Snapshot) => (await ask(snapshot)).json()
  const attach = async (snapshot: Snapshot, change: object = {}, token?: string) =>
    (await ask(snapshot, { method: 'PUT', body: JSON.stringify({ ...order, ...change }) }, token)).status
  const payment = () => build.snapshot({ version: 1, state: 'pending', invoice })
  const released = { state: 'success', invoice, order, releases: 1 }

  test('a success releases the goods once, despite repeated and superseded deliveries', async () => {
    const pending = payment()
    const success = { ...pending, version: 2, state: 'success' as const }
    expect(await attach(pending)).toBe(204)
    expect(await post(deliveries.good(success))).toBe(204)
    const first = await deliveries.good(success)
    const repeated = [first, await deliveries.duplicate(first), await deliveries.good(pending)]
    expect(await Promise.all(repeated.map(post))).toEqual([204, 204, 204])
    expect(await getSale(success)).toEqual(released)
  })

  test('a success that a reorg revokes and restores releases the goods once', async () => {
    const success = { ...payment(), state: 'success' as const }
    expect(await attach(success)).toBe(204)
    for (const [index, state] of (['success', 'failure', 'success'] as const).entries())
      expect(await post(deliveries.good({ ...success, version: index + 1, state }))).toBe(204)
    expect(await getSale(success)).toEqual(released)
  })

  test('a success without an order releases nothing, until the shop attaches one', async () => {
    const success = { ...payment(), state: 'success' as const }
    expect(await post(deliveries.good(success))).toBe(204)
    expect(await getSale(success)).toEqual({ ...released, order: null, releases: 0 })
    expect([await attach(success), await attach(success)]).toEqual([204, 204])
    expect([await attach(success, { id: 'order-2' }), await attach(success, { price: '1' })]).toEqual([409, 409])
    expect(await getSale(success)).toEqual(released)
  })

  test.each([
    ['another price', { price: '12.51' }],
    ['another currency', { currency: 'USD' }],
  ])('a success for an order of %s releases nothing', async (_, change) => {
    const success = { ...payment(), state: 'success' as const }
    expect(await attach(success, change)).toBe(204)
    expect(await post(deliveries.good(success))).toBe(204)
    expect(await getSale(success)).toMatchObject({ state: 'success', releases: 0 })
  })

  test('only the shop can attach or read an order', async () => {
    const success = { ...payment(), state: 'success' as const }
    expect(await attach(success, {}, 'another_token')).toBe(401)
    expect((await ask(success, { headers: {} })).status).toBe(401)
    expect(await getSale(success)).toBe(null)
    expect(await attach(success, { price: '12,50' })).toBe(400)
    expect((await ask(success, { method: 'DELETE' })).status).toBe(405)
  })

  test('fifty concurrent copies and the order release the goods once', async () => {
    const success = { ...payment(), state: 'success' as const }
    const delivery = await deliveries.good(success)
    const sent = Array.from({ length: 50 }, (_, index) => (index === 25 ? attach(success) : post(delivery)))
    expect(new Set(await Promise.all(sent))).toEqual(new Set([204]))
    expect(await getSale(success)).toEqual(released)
  })

  test('a delivery that the service did not sign changes nothing', async () => {
    const success = { ...payment(), state: 'success' as const }
    expect(await post(deliveries.forged(success))).toBe(401)
    expect(await post(deliveries.tampered(success))).toBe(401)
    expect(await post(deliveries.stale(success))).toBe(400)
    expect(await post(deliveries.unsigned(success))).toBe(401)
    expect(await getSale(success)).toBe(null)
  })

  test('the versions outlive the process', async () => {
    const success = { ...payment(), version: 3, state: 'success' as const }
    expect(await attach(success)).toBe(204)
    expect(await post(deliveries.good(success))).toBe(204)
    await worker.stop('SIGKILL')
    await worker.start()
    expect(await post(deliveries.good({ ...success, version: 2, state: 'pending' }))).toBe(204)
    expect(await getSale(success)).toEqual(released)
  })

  test('the Worker passes the doctor', async () => {
    const integrationAddress = `0x${'ab'.repeat(20)}`
    const url = `${worker.url}/webhook`
    const report = await runDoctor({ url, signingSecret: secret, integrationAddress, timeoutMs: 120_000 })
    expect([report.findings, report.notRun]).toEqual([[], 0])
  })

  test('other paths are not found, and other methods not allowed', async () => {
    expect((await fetch(worker.url)).status).toBe(404)
    expect((await fetch(`${worker.url}/webhook`)).status).toBe(405)
  })
})
