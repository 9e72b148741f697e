import { triggerScenarios } from '@payment-integration/contract/internal'
import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier } from '@payment-integration/webhook'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createTwin } from './create-twin.js'
import { buildTestSource, parseTriggerRequest, type TriggerRequest } from './trigger-request.js'

/** A twin with one integration, whose receiver is the real one, or is down. */
async function setUp(isDown = false) {
  const twin = await createTwin({ seed: 11 })
  onTestFinished(() => twin.close())
  const shop = await twin.addIntegration((request) => (isDown ? new Response(null, { status: 503 }) : handle(request)))
  const handle = correctHandler({ signingSecret: shop.signingSecret, clock: twin.clock })
  return { twin, shop }
}

describe('on a twin', () => {
  test.each([
    ['success', ['apply', 'apply', 'apply']],
    ['duplicate', ['apply', 'duplicate']],
    ['out-of-order', ['apply', 'apply', 'apply', 'stale', 'stale']],
    ['multi-chain-hash', ['apply', 'apply']],
    ['reorg', ['apply', 'apply']],
    ['failure', ['apply', 'apply', 'apply']],
  ] as const)('%s makes the arrivals of its name', async (scenario, expected) => {
    const { twin, shop } = await setUp()
    const events = await twin.trigger({ scenario }, shop)
    expect(events.at(-1)).toMatchObject({ event: 'done', scenario })
    expect(twin.arrivals.map((arrival) => arrival.expected)).toEqual(expected)
    expect(twin.arrivals.every(({ status }) => status === 204)).toBe(true)
  })

  test.each([1, 10, 100, 42_161])(
    'reorg on chain %i ends in failure, also a second time, and stops no chain',
    async (chainId) => {
      const { twin, shop } = await setUp()
      for (const scenario of ['reorg', 'reorg', 'payment'] as const) {
        const events = await twin.trigger({ scenario, chainId }, shop)
        const states = events.flatMap((event) => (event.event === 'snapshot' ? [event.state] : []))
        expect(states).toEqual(scenario === 'reorg' ? [null, 'failure'] : [null])
      }
      expect(twin.service.indexers.map((indexer) => indexer.status().error)).toEqual(Array(5).fill(null))
    },
  )

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
    [null],
    ['payment'],
    [{}],
    [{ scenario: 'toString' }],
    [{ scenario: 'payment', wallet: '0x1' }],
    [{ scenario: 'payment', count: 2 }],
    [{ scenario: 'payment', verdict: 'green' }],
    [{ scenario: 'kyc', amount: '1' }],
    [{ scenario: 'kyc', verdict: 'blue' }],
    [{ scenario: 'burst', count: 0 }],
    [{ scenario: 'burst', count: 10_001 }],
    [{ scenario: 'payment', amount: 12.5 }],
    [{ scenario: 'payment', amount: '-1' }],
    [{ scenario: 'payment', chainId: '137' }],
    [{ scenario: 'payment', sender: '0x12' }],
    [{ scenario: 'payment', memo: 'ü'.repeat(17) }],
    [{ scenario: 'payment', amount: '05.00' }],
    [{ scenario: 'payment', token: 'x'.repeat(65) }],
  ])('%j is rejected', (request) => {
    expect(() => parseTriggerRequest(request)).toThrow(expect.objectContaining({ code: 'ERR_TRIGGER_INVALID' }))
  })

  test.each(triggerScenarios)('%s alone is enough', (scenario) => {
    expect(parseTriggerRequest({ scenario, amount: undefined })).toEqual({ scenario })
  })

  test('becomes a test that passes with a correct receiver, and fails with one that is down', async () => {
    const request: TriggerRequest = { scenario: 'out-of-order', memo: "it's `here`" }
    const source = buildTestSource(request)
    const body = source.slice(source.indexOf('const twin ='), source.lastIndexOf('\n})'))
    const run = (createHandler: unknown): Promise<void> =>
      new Function('createTwin', 'createHandler', 'expect', `return (async () => {${body}\n})()`)(
        createTwin,
        createHandler,
        expect,
      )
    await run(correctHandler)
    await expect(run(() => () => new Response(null, { status: 503 }))).rejects.toThrow('did not accept')
  })
})

/** The handler of a receiver, as the generated test makes it. */
function correctHandler({ signingSecret, clock }: { signingSecret: string; clock: { now(): number } }) {
  const { verify } = createVerifier({ secrets: signingSecret, clock })
  const { receive } = createReceiver({ verify, store: createMemoryVersionStore(), handle: async () => undefined })
  return async (request: Request) => {
    await receive({ headers: request.headers, body: new Uint8Array(await request.arrayBuffer()) })
    return new Response(null, { status: 204 })
  }
}
