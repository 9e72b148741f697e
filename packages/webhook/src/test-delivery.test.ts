import { expect, test } from 'vitest'
import { createVerifier } from './create-verifier.js'
import { createTestDelivery, createTestSnapshot } from './test-delivery.js'

const secret = 'whsec_for_tests'
const clock = { now: () => 1_700_000_000_123 }
const { verify } = createVerifier({ secrets: secret, clock })

test('a test delivery verifies and holds the snapshot', async () => {
  const snapshot = createTestSnapshot({ version: 7, state: 'refund_pending', invoice: null })
  const verified = await verify(await createTestDelivery({ secret, clock, snapshot }))
  expect(verified).toEqual({ snapshot, secretIndex: 0, signedAt: 1_700_000_000, ageSeconds: 0 })
})

test.each(['expired', '', null])(
  'the fault %j, which there is not, is a TypeError that names those there are',
  async (fault) => {
    const made = createTestDelivery({ secret, clock, fault: fault as 'forged' })
    await expect(made).rejects.toThrow(TypeError)
    await expect(made).rejects.toThrow(/forged, tampered or unsigned/)
  },
)

test('without a clock it is signed now', async () => {
  const proof = await createVerifier({ secrets: secret }).verify(await createTestDelivery({ secret }))
  expect(Math.abs(proof.ageSeconds)).toBeLessThanOrEqual(1)
})

test.each([Number.NaN, 0.5])('an age of %s is a RangeError', async (ageSeconds) => {
  await expect(createTestDelivery({ secret, clock, ageSeconds })).rejects.toThrow(RangeError)
})
