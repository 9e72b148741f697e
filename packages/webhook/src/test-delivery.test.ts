import { expect, test } from 'vitest'
import { createVerifier } from './create-verifier.js'
import type { WebhookError } from './errors.js'
import { createTestDelivery, createTestSnapshot, type TestDeliveryOptions } from './test-delivery.js'

const secret = 'whsec_for_tests'
const now = () => 1_700_000_000_123
const { verify } = createVerifier({ secrets: secret, now })
const verdict = async (options: Partial<TestDeliveryOptions>) =>
  verify(await createTestDelivery({ secret, now, ...options })).then(
    () => 'ok',
    (error: WebhookError) => error.code,
  )

test('a test delivery verifies and holds the snapshot', async () => {
  const snapshot = createTestSnapshot({ version: 7, state: 'refund_pending', invoice: null })
  const verified = await verify(await createTestDelivery({ secret, now, snapshot }))
  expect(verified).toEqual({ snapshot, secretIndex: 0, signedAt: 1_700_000_000, ageSeconds: 0 })
})

test('it can be made stale, future, forged, tampered with and unsigned', async () => {
  expect(await verdict({ ageSeconds: 300 })).toBe('ok')
  expect(await verdict({ ageSeconds: 301 })).toBe('ERR_DELIVERY_STALE')
  expect(await verdict({ ageSeconds: -301 })).toBe('ERR_DELIVERY_FUTURE')
  expect(await verdict({ fault: 'forged' })).toBe('ERR_SIGNATURE_MISMATCH')
  expect(await verdict({ fault: 'tampered' })).toBe('ERR_SIGNATURE_MISMATCH')
  expect(await verdict({ fault: 'unsigned' })).toBe('ERR_SIGNATURE_MISSING')
})

test.each(['expired', '', null])(
  'the fault %j, which there is not, is a TypeError that names those there are',
  async (fault) => {
    const made = createTestDelivery({ secret, now, fault: fault as 'forged' })
    await expect(made).rejects.toThrow(TypeError)
    await expect(made).rejects.toThrow(/forged, tampered or unsigned/)
  },
)

test('it goes through fetch as it is', async () => {
  const request = new Request('http://127.0.0.1/', { method: 'POST', ...(await createTestDelivery({ secret, now })) })
  expect((await verify(request)).snapshot).toEqual(createTestSnapshot())
})

test('without a clock it is signed now', async () => {
  const proof = await createVerifier({ secrets: secret }).verify(await createTestDelivery({ secret }))
  expect(Math.abs(proof.ageSeconds)).toBeLessThanOrEqual(1)
})

test.each([Number.NaN, 0.5])('an age of %s is a RangeError', async (ageSeconds) => {
  await expect(createTestDelivery({ secret, now, ageSeconds })).rejects.toThrow(RangeError)
})
