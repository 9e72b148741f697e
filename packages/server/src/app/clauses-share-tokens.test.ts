/**
 * docs/interface.md 4.2 (token minting), 7 (422) and 8 (share token): a token's validity, from the integrator's mint to
 * the service's answer.
 */
import { shareTokenLifetimeSeconds } from '@payment-integration/contract'
import { mintShareToken } from '@payment-integration/identity-sumsub'
import { createSumsubClient, createWebhookReader } from '@payment-integration/identity-sumsub/service'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clauses, type Shop, startClauses } from '../../test/support/clause-service.js'
import { donor, recipient } from '../../test/support/sharing-service.js'
import { createSumsubIdentityProvider } from '../identity/sumsub-provider.js'

/** How far the provider's clock is behind this one, in milliseconds: a token minted then has that age now. */
let behindMs = 0
const providerNow = () => Date.now() - behindMs
let provider: Awaited<ReturnType<typeof startIdentityProvider>>
let clauses: Clauses
let shop: Shop
beforeAll(async () => {
  provider = await startIdentityProvider({ clients: [donor, recipient], now: providerNow })
  const { appToken, secretKey } = recipient
  const connection = { baseUrl: provider.url, appToken, secretKey }
  clauses = await startClauses({
    identity: {
      provider: createSumsubIdentityProvider(createSumsubClient, { ...connection, levelName: 'basic-kyc-level' }),
      readWebhook: createWebhookReader({ secret: 'secret-of-the-webhook' }),
    },
  })
  shop = await clauses.createShop(`0x${'01'.repeat(20)}`)
})
afterAll(async () => {
  await clauses?.stop()
  await provider?.close()
})

/** Mints a token by an integrator's request, `ageMs` ago. */
async function minted({
  ageMs = 0,
  ttlInSecs,
  as = 'approved',
}: {
  ageMs?: number
  ttlInSecs?: number
  as?: 'approved' | 'pending' | 'rejected'
} = {}): Promise<string> {
  const { appToken, secretKey } = donor
  const { id: applicantId } = provider.addApplicant({ clientId: 'Shop', as })
  const connection = { baseUrl: provider.url, appToken, secretKey, now: providerNow }
  behindMs = ageMs
  try {
    return await mintShareToken({ ...connection, applicantId, forClientId: 'Service', ttlInSecs })
  } finally {
    behindMs = 0
  }
}
const share = (email: string, kycShareToken: string) =>
  clauses.post('idv-share-token', shop.authorization, JSON.stringify({ email, kycShareToken }))

const minute = 60_000
const lifetime = shareTokenLifetimeSeconds * 1_000
describe('a token', () => {
  it('minted by the integrator is redeemed once by the service', async () => {
    const token = await minted()
    expect((await share('once@shop.example', token)).body).toMatchObject({ reused: true })
    const again = await share('twice@shop.example', token)
    expect([again.status, again.body]).toEqual([
      422,
      { error: expect.any(String), message: expect.stringContaining('Token is invalid') },
    ])
    expect(provider.redemptions).toHaveLength(1)
  })

  it.each([
    ['19 minutes old', { ageMs: lifetime - minute }, 200],
    ['20 minutes old', { ageMs: lifetime }, 422],
    ['59 minutes old, minted for an hour', { ageMs: 59 * minute, ttlInSecs: 3_600 }, 200],
    ['60 minutes old, minted for an hour', { ageMs: 60 * minute, ttlInSecs: 3_600 }, 422],
    ['60 seconds old, minted for a minute', { ageMs: minute, ttlInSecs: 60 }, 422],
  ])('%s: good for 20 minutes, or as long as ttlInSecs said', async (name, options, status) => {
    const before = provider.redemptions.length
    const answer = await share(`${name.replaceAll(/\W/g, '')}@shop.example`, await minted(options))
    expect(answer.status).toBe(status)
    expect(provider.redemptions.length).toBe(status === 200 ? before + 1 : before)
    if (status === 422) expect(answer.body).toMatchObject({ message: expect.stringContaining('with ttl') })
  })

  it.each(['pending', 'rejected'] as const)(
    'of an applicant that is %s is 422, and nothing is redeemed',
    async (as) => {
      const before = provider.redemptions.length
      const { status, body } = await share(`${as}@shop.example`, await minted({ as }))
      expect([status, body]).toEqual([422, { error: expect.any(String), message: expect.any(String) }])
      expect(provider.redemptions.length).toBe(before)
    },
  )
})
