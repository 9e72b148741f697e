/** Passes signed deliveries to the function, as events of a function URL. Needs no database. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBuilders, createDeliveries } from '@payment-integration/testing'
import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier } from '@payment-integration/webhook'
import { paymentWebhook } from './webhook.js'

const secret = 'whsec_for_tests'
const deliveries = createDeliveries({ secret })
const build = createBuilders({ seed: 1 })

/** A receiver in memory, the versions that it handled, and a function that posts to it. */
function start() {
  const handled = []
  const { receive } = createReceiver({
    verify: createVerifier({ secrets: secret }).verify,
    store: createMemoryVersionStore(),
    handle: ({ version }) => void handled.push(version),
  })
  const handler = paymentWebhook(receive)
  async function post(delivery) {
    const { statusCode } = await handler({
      requestContext: { http: { method: 'POST' } },
      headers: delivery.headers,
      body: Buffer.from(delivery.body).toString('base64'),
      isBase64Encoded: true,
    })
    return statusCode
  }
  return { handled, post }
}

test('a signed delivery is handled once, and a forged one never', async () => {
  const { handled, post } = start()
  const pending = build.snapshot({ version: 1, state: 'pending' })
  const success = build.snapshot({ ...pending, version: 2, state: 'success' })
  const good = await deliveries.good(pending)
  assert.equal(await post(good), 204)
  assert.equal(await post(await deliveries.duplicate(good)), 204)
  assert.equal(await post(await deliveries.forged(success)), 401)
  assert.equal(await post(await deliveries.unsigned(success)), 401)
  assert.deepEqual(handled, [1])
  assert.equal(await post(await deliveries.good(success)), 204)
  assert.equal(await post(await deliveries.good(pending)), 204)
  assert.deepEqual(handled, [1, 2])
})
