/** Passes signed deliveries to the Worker, with its Durable Objects in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBuilders, createDeliveries, type SignedDelivery } from '@payment-integration/testing'
import { type ObjectStorage, PaymentObject } from './payment-object.js'
import worker from './worker.js'

const secret = 'whsec_for_tests'
const deliveries = createDeliveries({ secret })
const build = createBuilders({ seed: 1 })

/** The Worker, the versions that its objects stored, and a function that posts to it. */
function start() {
  const stored: unknown[] = []
  const objects = new Map<unknown, PaymentObject>()
  function open(): PaymentObject {
    const values = new Map<string, unknown>()
    const storage: ObjectStorage = {
      get: async (key) => values.get(key) as never,
      async put(key, value) {
        values.set(key, value)
        if (key === 'version') stored.push(value)
      },
      transaction: (work) => work(storage),
    }
    return new PaymentObject({ storage })
  }
  const env = {
    WEBHOOK_SIGNING_SECRET: secret,
    PAYMENTS: {
      idFromName: (name: string) => name,
      get: (id: unknown) => ({
        fetch(url: string, init?: RequestInit) {
          const object = objects.get(id) ?? open()
          objects.set(id, object)
          return object.fetch(new Request(url, init))
        },
      }),
    },
  }
  async function post(delivery: SignedDelivery): Promise<number> {
    const request = new Request('https://shop.test/WEBHOOK_PATH', { method: 'POST', ...delivery })
    const response = await worker.fetch(request, env, { waitUntil: () => undefined })
    return response.status
  }
  return { stored, post }
}

test('a signed delivery is stored once, and a forged one never', async () => {
  const { stored, post } = start()
  const pending = build.snapshot({ version: 1, state: 'pending' })
  const success = build.snapshot({ ...pending, version: 2, state: 'success' })
  const good = await deliveries.good(pending)
  assert.equal(await post(good), 204)
  assert.equal(await post(await deliveries.duplicate(good)), 204)
  assert.equal(await post(await deliveries.forged(success)), 401)
  assert.equal(await post(await deliveries.unsigned(success)), 401)
  assert.deepEqual(stored, [1])
  assert.equal(await post(await deliveries.good(success)), 204)
  assert.equal(await post(await deliveries.good(pending)), 204)
  assert.deepEqual(stored, [1, 2])
})
