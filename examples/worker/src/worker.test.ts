import { createBuilders, createDeliveries, type SignedDelivery } from '@payment-integration/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningWorker, runWorker } from './workerd.js'

const secret = 'whsec_of_the_worker'
const deliveries = createDeliveries({ secret })
const build = createBuilders({ seed: 11 })
type Snapshot = ReturnType<typeof build.snapshot>

describe('in workerd', () => {
  let worker: RunningWorker
  beforeAll(async () => {
    worker = await runWorker({ secret })
  })
  afterAll(() => worker?.remove())

  const post = async (delivery: SignedDelivery | Promise<SignedDelivery>) =>
    (await fetch(`${worker.url}/webhook`, { method: 'POST', ...(await delivery) })).status
  const orderOf = async ({ integrationAddress, chainId, txHash }: Snapshot) =>
    (await fetch(`${worker.url}/orders/${integrationAddress}/${chainId}/${txHash}`)).json()
  const payment = () => build.snapshot({ version: 1, state: 'pending' })

  test('a success releases the goods once, whatever is repeated and overtaken', async () => {
    const pending = payment()
    const success = { ...pending, version: 2, state: 'success' as const }
    expect(await post(deliveries.good(success))).toBe(204)
    const first = await deliveries.good(success)
    const repeated = [first, await deliveries.duplicate(first), await deliveries.good(pending)]
    expect(await Promise.all(repeated.map(post))).toEqual([204, 204, 204])
    expect(await orderOf(success)).toEqual({ state: 'success', releases: 1 })
  })

  test('fifty copies at once release the goods once', async () => {
    const success = { ...payment(), state: 'success' as const }
    const delivery = await deliveries.good(success)
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(delivery)))
    expect(new Set(answers)).toEqual(new Set([204]))
    expect(await orderOf(success)).toEqual({ state: 'success', releases: 1 })
  })

  test('what the service did not sign changes nothing', async () => {
    const success = { ...payment(), state: 'success' as const }
    expect(await post(deliveries.forged(success))).toBe(401)
    expect(await post(deliveries.tampered(success))).toBe(401)
    expect(await post(deliveries.stale(success))).toBe(400)
    expect(await post(deliveries.unsigned(success))).toBe(401)
    expect(await orderOf(success)).toBe(null)
  })

  test('the versions outlive the process', async () => {
    const success = { ...payment(), version: 3, state: 'success' as const }
    expect(await post(deliveries.good(success))).toBe(204)
    await worker.stop('SIGKILL')
    await worker.start()
    expect(await post(deliveries.good({ ...success, version: 2, state: 'pending' }))).toBe(204)
    expect(await orderOf(success)).toEqual({ state: 'success', releases: 1 })
  })

  test('other paths are not found, and other methods not allowed', async () => {
    expect((await fetch(worker.url)).status).toBe(404)
    expect((await fetch(`${worker.url}/webhook`)).status).toBe(405)
  })
})
