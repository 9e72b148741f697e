import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier } from '@payment-integration/webhook'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createTwin } from '../twin/create-twin.js'
import { parseTriggerRequest, type TriggerRequest, triggerScenarios } from './request.js'
import { testSource } from './test-source.js'

/** A twin with one integration, whose receiver is the real one, or is down. */
async function setUp(isDown = false) {
  const twin = await createTwin({ seed: 11 })
  onTestFinished(() => twin.close())
  let secret = ''
  const { verify } = createVerifier({ secrets: async () => [secret], now: twin.now })
  const { receive } = createReceiver({ verify, store: createMemoryVersionStore(), handle: async () => undefined })
  const shop = await twin.addIntegration(async (request) => {
    if (isDown) return new Response(null, { status: 503 })
    await receive({ headers: request.headers, body: new Uint8Array(await request.arrayBuffer()) })
    return new Response(null, { status: 204 })
  })
  secret = shop.signingSecret
  return { twin, shop }
}

describe('on a twin', () => {
  test.each([
    ['success', ['apply', 'apply', 'apply']],
    ['duplicate', ['apply', 'duplicate']],
    ['out-of-order', ['apply', 'apply', 'apply', 'stale', 'stale']],
    ['multi-chain-hash', ['apply', 'apply']],
    ['reorg', ['apply', 'apply']],
  ] as const)('%s makes the arrivals of its name', async (scenario, expected) => {
    const { twin, shop } = await setUp()
    const events = await twin.trigger({ scenario }, shop)
    expect(events.at(-1)).toMatchObject({ event: 'done', scenario })
    expect(twin.arrivals.map((arrival) => arrival.expected)).toEqual(expected)
    expect(twin.arrivals.every(({ status }) => status === 204)).toBe(true)
  })

  test('a snapshot has the bytes that are sent', async () => {
    const { twin, shop } = await setUp()
    const events = await twin.trigger({ scenario: 'refund', amount: '3.5', memo: 'order-1' }, shop)
    const bodies = events.flatMap((event) => (event.event === 'snapshot' ? [event.body] : []))
    expect(bodies).toEqual(twin.arrivals.map(({ body }) => new TextDecoder().decode(body)))
    expect(bodies).toHaveLength(5)
  })

  test('the same seed causes the same events', async () => {
    const [first, second] = [await setUp(), await setUp()]
    const request = { scenario: 'out-of-order' } as const
    expect(await first.twin.trigger(request, first.shop)).toEqual(await second.twin.trigger(request, second.shop))
  })

  test.each([
    ['green', 200, { reviewAnswer: 'GREEN' }],
    ['red-retry', 422, { error: expect.stringContaining('RED, RETRY') }],
    ['red-final', 422, { error: expect.stringContaining('RED, FINAL') }],
  ] as const)('kyc %s is shared, decided and read again', async (verdict, status, answer) => {
    const { twin, shop } = await setUp()
    const events = await twin.trigger({ scenario: 'kyc', verdict }, shop)
    expect(events[1]).toMatchObject({ event: 'share', status, answer })
  })

  test('a scenario that needs an accepted delivery fails with the answer of the receiver', async () => {
    const { twin, shop } = await setUp(true)
    await expect(twin.trigger({ scenario: 'duplicate' }, shop)).rejects.toMatchObject({
      code: 'ERR_TRIGGER',
      message: expect.stringContaining('did not accept version 1 (503)'),
    })
  })
})

describe('a request', () => {
  test.each([
    [null, TypeError],
    ['payment', TypeError],
    [{}, TypeError],
    [{ scenario: 'toString' }, TypeError],
    [{ scenario: 'payment', wallet: '0x1' }, TypeError],
    [{ scenario: 'payment', count: 2 }, TypeError],
    [{ scenario: 'payment', verdict: 'green' }, TypeError],
    [{ scenario: 'kyc', amount: '1' }, TypeError],
    [{ scenario: 'kyc', verdict: 'blue' }, RangeError],
    [{ scenario: 'burst', count: 0 }, RangeError],
    [{ scenario: 'burst', count: 10_001 }, RangeError],
    [{ scenario: 'payment', amount: 12.5 }, RangeError],
    [{ scenario: 'payment', amount: '-1' }, RangeError],
    [{ scenario: 'payment', chainId: '137' }, RangeError],
    [{ scenario: 'payment', sender: '0x12' }, RangeError],
    [{ scenario: 'payment', memo: 'ü'.repeat(17) }, RangeError],
  ])('%j is refused', (request, error) => {
    expect(() => parseTriggerRequest(request)).toThrow(error)
  })

  test.each(Object.keys(triggerScenarios))('%s alone is enough', (scenario) => {
    expect(parseTriggerRequest({ scenario, amount: undefined })).toEqual({ scenario })
  })

  test('becomes a test with the same request', () => {
    const request: TriggerRequest = { scenario: 'refund', memo: "it's `here`" }
    expect(testSource(request)).toContain(`twin.trigger(${JSON.stringify(request)}, shop)`)
  })
})
