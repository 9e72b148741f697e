import { createClient } from '@payment-integration/client'
import { expect, onTestFinished, test } from 'vitest'
import { mintShareToken } from '../../../identity-sumsub/src/exports/index.js'
import { createTwin, type TwinOptions } from './create-twin.js'

const email = 'ada@example.com'
const baseUrl = 'https://payments.test'

/** A twin with one integration, and its share call. */
async function setUp(options: TwinOptions = {}) {
  const twin = await createTwin(options)
  onTestFinished(() => twin.close())
  const { address, apiSecret } = await twin.addIntegration()
  const client = createClient({ baseUrl, integrationAddress: address, apiSecret, fetch: twin.fetch, maxRetries: 0 })
  const operations = () => twin.identity.provider.requests.map(({ operation }) => operation)
  const share = (kycShareToken: string, of = email) => client.identity.share({ email: of, kycShareToken })
  return { twin, client, operations, share }
}

test('a shared verification is approved by a webhook, and its token is redeemed once', async () => {
  const { twin, share, operations } = await setUp()
  const token = twin.identity.shareToken()
  expect(await share(token)).toMatchObject({ kind: 'in_flight', redeemed: true })
  expect(await share(token)).toMatchObject({ kind: 'in_flight', status: 'pending', redeemed: false })
  await twin.identity.approve(token)
  expect(await share(token)).toMatchObject({ kind: 'approved', redeemed: false })
  expect(operations()).toEqual(['reuse'])
  const sent = twin.identity.provider.webhooks.map(({ type, status }) => `${type} ${status}`)
  expect(sent).toEqual(['applicantCreated 200', 'applicantPending 200', 'applicantReviewed 200'])
})

test('while an outcome is unknown no token is redeemed; the clock brings the look-up and the poll', async () => {
  const { twin, share, operations } = await setUp()
  const token = twin.identity.shareToken()
  twin.identity.provider.setWebhooks('PaymentService', [])
  twin.identity.provider.fail({ on: 'reuse', at: 'after', answer: 'lost' })
  twin.identity.provider.fail({ on: 'find', at: 'before', answer: 'lost' })
  for (const each of [token, twin.identity.shareToken()])
    await expect(share(each)).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  await twin.advance(30_000)
  expect(operations()).toEqual(['reuse', 'find', 'find'])
  await twin.identity.approve(token)
  expect(await share(token)).toMatchObject({ kind: 'in_flight', redeemed: false })
  await twin.advance(3_600_000)
  expect(await share(token)).toMatchObject({ kind: 'approved', redeemed: false })
})

test('a restart keeps the provider and the verification', async () => {
  const { twin, share } = await setUp()
  const token = twin.identity.shareToken()
  await share(token)
  await twin.restart()
  await twin.identity.approve(token)
  expect(await share(token)).toMatchObject({ kind: 'approved', redeemed: false })
})

test('sixty shares in one moment of the clock do not wait; a throttled provider is 503 until time passes', async () => {
  const { twin, share } = await setUp()
  for (let user = 0; user < 60; user += 1) await share(twin.identity.shareToken(), `user-${user}@example.com`)
  twin.identity.provider.fail({ on: 'reuse', at: 'before', answer: 429 })
  await expect(share(twin.identity.shareToken())).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  await expect(share(twin.identity.shareToken())).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  await twin.advance(5_000)
  expect(await share(twin.identity.shareToken())).toMatchObject({ redeemed: true })
})

test("an integrator's own code mints at the provider", async () => {
  const { twin, share } = await setUp()
  const { id: applicantId } = twin.identity.provider.addApplicant({ clientId: 'Integrator' })
  expect(await share(await mintShareToken({ ...twin.identity.minting, applicantId }))).toMatchObject({ redeemed: true })
})

test('the same seed gives the same tokens, ids and times', async () => {
  const run = async (seed: number) => {
    const { twin, share } = await setUp({ seed })
    const token = twin.identity.shareToken()
    await share(token)
    await twin.identity.approve(token)
    const { redemptions, webhooks } = twin.identity.provider
    return { redemptions, webhooks, verdicts: await twin.service.identity?.verdicts({ limit: 10 }) }
  }
  const first = await run(5)
  expect(await run(5)).toEqual(first)
  expect((await run(6)).redemptions).not.toEqual(first.redemptions)
})
