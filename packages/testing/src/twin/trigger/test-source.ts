/** Writes a trigger as a test, so that what was seen once is checked from then on. @module */
import { parseTriggerRequest, type TriggerRequest, TriggerRequestError } from './request.js'

/**
 * The source of a vitest file that causes the same on a twin, and expects a correct receiver.
 * @throws TriggerRequestError `ERR_TRIGGER_INVALID`, also for `kyc`, which delivers nothing to a receiver.
 * @example testSource({ scenario: 'refund', amount: '12.50' })
 */
export function testSource(request: TriggerRequest): string {
  const { scenario } = parseTriggerRequest(request)
  if (scenario === 'kyc')
    throw new TriggerRequestError('kyc delivers nothing to a receiver, so it makes no test of one.')
  return `import { createTwin } from '@payment-integration/testing/twin'
import { expect, test } from 'vitest'
// Yours: it makes the fetch handler of your receiver, for a secret and a clock.
import { createHandler } from './receiver.js'

test('the receiver takes the scenario ${scenario}', async () => {
  const twin = await createTwin({ seed: 1 })
  try {
    const shop = await twin.addIntegration((request) => handle(request))
    const handle = createHandler({ signingSecret: shop.signingSecret, now: twin.now })
    await twin.trigger(${JSON.stringify(request)}, shop)
    for (const { expected, status } of twin.arrivals)
      expect(status, expected).toSatisfy((code) => (expected === 'reject' ? code >= 400 : code >= 200 && code < 300))
  } finally {
    await twin.close()
  }
})
`
}
