import { createClient } from '@payment-integration/client'
import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier } from '@payment-integration/webhook'
import { expect, onTestFinished, test } from 'vitest'
import { createTwin, type TwinOptions } from './create-twin.js'
import type { TwinArrival } from './network.js'

const baseUrl = 'https://payments.test'
const hourMs = 3_600_000

/** A twin with one integration, whose receiver is the real one. */
async function setUp(options: TwinOptions = {}) {
  const twin = await createTwin(options)
  onTestFinished(() => twin.close())
  const effects: string[] = []
  let secret = ''
  let outage = false
  const { verify } = createVerifier({ secrets: async () => [secret], clock: twin.clock })
  const { receive } = createReceiver({
    verify,
    store: createMemoryVersionStore(),
    handle: async ({ txHash, version, state }) => void effects.push(`${txHash} v${version} ${state}`),
  })
  const shop = await twin.addIntegration(async (request) => {
    if (outage) return new Response(null, { status: 503 })
    const body = new Uint8Array(await request.arrayBuffer())
    try {
      await receive({ headers: request.headers, body })
      return new Response(null, { status: 204 })
    } catch (error) {
      return new Response(null, { status: (error as { status?: number }).status ?? 500 })
    }
  })
  secret = shop.signingSecret
  const { address, apiSecret } = shop
  const client = createClient({ baseUrl, integrationAddress: address, apiSecret, fetch: twin.fetch })
  const pay = (input = {}) => twin.pay({ integrationAddress: address, ...input })
  function fail(on: boolean) {
    outage = on
  }
  return { twin, client, effects, address, pay, fail }
}

const pickFacts = ({ version, expected, fault, status, at }: TwinArrival) => ({ version, expected, fault, status, at })

test('a payment is indexed, read, changed by the processor and delivered in the process of the test', async () => {
  const { twin, client, effects, pay } = await setUp()
  const payment = await pay({ amount: '12.50', memo: 'order-7', chainId: 10 })
  const tokenOut = { symbol: 'USDC', amountNet: '12.5' }
  const indexed = { chainId: '10', version: 1, state: null, memo: 'order-7', tokenOut }
  expect(await client.payments.get(payment.txHash)).toMatchObject(indexed)
  expect(await twin.update(payment, { state: 'success' })).toMatchObject({ outcome: 'applied', version: 2 })
  expect(effects).toEqual([`${payment.txHash} v1 null`, `${payment.txHash} v2 success`])
  expect(await twin.update(payment, { state: 'pending' })).toMatchObject({ outcome: 'rejected' })
})

test('days of retries happen at their times, by the clock of the test', async () => {
  const { twin, pay, fail } = await setUp()
  fail(true)
  await pay()
  // The last of twelve attempts comes after this: jitter may end three days early.
  await twin.advance(48 * hourMs)
  expect(twin.arrivals.length).toBeGreaterThan(8)
  expect(twin.arrivals.every(({ status }) => status === 503)).toBe(true)
  const minutes = twin.arrivals.map(({ at }) => Math.round((at - (twin.arrivals[0]?.at ?? 0)) / 60_000))
  expect(minutes).toEqual(minutes.toSorted((a, b) => a - b))
  expect(minutes.at(-1)).toBeGreaterThan(24 * 60)
  fail(false)
  await twin.advance(48 * hourMs)
  expect(twin.arrivals.at(-1)?.status).toBe(204)
})

test('a payment whose block is orphaned fails once that height is final, and returns with its former state', async () => {
  const { twin, client, pay } = await setUp()
  const payment = await pay({ chainId: 1 })
  await twin.update(payment, { state: 'success' })
  await twin.reorganize(1, 1, 'again')
  expect(await client.payments.get(payment.txHash)).toMatchObject({ version: 2, state: 'success' })
  await twin.reorganize(1, 2, 'never')
  await twin.mine(1, 3)
  expect(await client.payments.get(payment.txHash)).toMatchObject({ version: 3, state: 'failure' })
  await pay({ chainId: 1, txHash: payment.txHash })
  expect(await client.payments.get(payment.txHash)).toMatchObject({ version: 4, state: 'success' })
})

test('what was delivered before a restart is not delivered again, and the rest is', async () => {
  const { twin, effects, pay, fail } = await setUp()
  await pay()
  fail(true)
  await pay()
  await twin.restart()
  fail(false)
  await twin.advance(hourMs)
  expect(effects).toHaveLength(2)
})

test('chaos of one seed gives the same faults, times and bytes again; of another seed others', async () => {
  const run = async (seed: number) => {
    const { twin, pay } = await setUp({ seed })
    twin.chaos()
    for (let n = 0; n < 15; n += 1) {
      const payment = await pay()
      await twin.update(payment, { state: 'pending' })
      await twin.update(payment, { state: 'success' })
    }
    await twin.advance(hourMs)
    return twin.arrivals.map((arrival) => [pickFacts(arrival), arrival.headers, Buffer.from(arrival.body).toString()])
  }
  const first = await run(3)
  expect(await run(3)).toEqual(first)
  expect(await run(4)).not.toEqual(first)
})

test('under chaos a correct receiver gives every expected verdict, and acts on each newest version once', async () => {
  const { twin, client, effects, pay } = await setUp({ seed: 11 })
  twin.chaos({ duplicate: 20, late: 20, lost: 10, slow: 10, skew: 5, restart: 5 })
  const payments: string[] = []
  for (let n = 0; n < 25; n += 1) {
    const payment = await pay()
    payments.push(payment.txHash)
    await twin.update(payment, { state: 'pending' })
    await twin.update(payment, { state: 'success' })
  }
  twin.chaos(null)
  await twin.advance(48 * hourMs)
  for (const { expected, status } of twin.arrivals) expect(status === 204).toBe(expected !== 'reject')
  const verdicts = new Set(twin.arrivals.map(({ expected }) => expected))
  expect(verdicts).toEqual(new Set(['apply', 'duplicate', 'stale', 'reject']))
  const faults = new Set(twin.arrivals.map(({ fault }) => fault))
  expect(faults).toEqual(new Set([null, 'duplicate', 'late', 'slow', 'skew', 'restart']))
  expect(new Set(effects).size).toBe(effects.length)
  for (const txHash of payments) {
    expect(effects.filter((effect) => effect.startsWith(txHash)).at(-1)).toBe(`${txHash} v3 success`)
    expect(await client.payments.get(txHash)).toMatchObject({ version: 3 })
  }
})

test('on request the API listens on a port, until the twin is closed', async () => {
  const { twin, address, pay } = await setUp()
  const { txHash } = await pay()
  const { url } = await twin.listen()
  const answer = await fetch(`${url}/api/v1/integration/payments`)
  expect([answer.status, await answer.json()]).toEqual([401, { error: 'Unauthorized' }])
  const issued = await twin.service.integrations.rotateApiSecret(address)
  const client = createClient({ baseUrl: url, integrationAddress: address, ...issued })
  expect((await client.payments.list()).payments.map((payment) => payment.txHash)).toEqual([txHash])
  await twin.close()
  await expect(fetch(url)).rejects.toThrow()
})

test.each<[string, object, typeof RangeError | typeof TypeError]>([
  ['an unknown field', { color: 'red' }, TypeError],
  ['an unknown chain', { chainId: 5 }, RangeError],
  ['a malformed amount', { amount: '1e3' }, RangeError],
  ['more decimals than the token has', { amount: '1.0000001' }, RangeError],
  ['a memo of 33 bytes', { memo: 'm'.repeat(33) }, RangeError],
  ['a malformed hash', { txHash: '0x12' }, RangeError],
  ['a malformed source', { source: { chainId: 1, txHash: '0x12' } }, RangeError],
])('%s is an error, and makes no payment', async (_, input, error) => {
  const { twin, pay } = await setUp()
  await expect(pay(input)).rejects.toBeInstanceOf(error)
  await twin.advance(0)
  expect(twin.arrivals).toEqual([])
})

test.each([{ delay: 5 }, { lost: -1 }, { lost: 60, slow: 41 }])('the chaos plan %j is an error', async (plan) => {
  const { twin } = await setUp()
  expect(() => twin.chaos(plan)).toThrow(/delay|lost|hundred/)
})
