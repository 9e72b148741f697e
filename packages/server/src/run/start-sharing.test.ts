import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { expect, it, onTestFinished, vi } from 'vitest'
import { basic } from '../../test/support/integration-service.js'
import { donor, mintToken, recipient, sharingVariables } from '../../test/support/sharing-service.js'
import { startTempServer } from '../../test/support/temp-server.js'
import { verdictPath } from '../app/webhook-routes.js'

const address = `0x${'ab'.repeat(20)}`

async function startProvider() {
  const provider = await startIdentityProvider({ clients: [donor, recipient] })
  onTestFinished(() => provider.close())
  return provider
}

it.each([
  ['reuse', 'pending'],
  ['import', 'init'],
] as const)(
  'a server with the variables of sharing redeems by %s and takes verdicts signed with each secret',
  async (redeemBy, begun) => {
    const provider = await startProvider()
    const variables = { PI_IDENTITY_WEBHOOK_SECRETS: 'new-secret,old-secret', PI_IDENTITY_REDEEM_BY: redeemBy }
    const server = await startTempServer({ ...sharingVariables(provider), ...variables })
    const { apiSecret } = await server.service.integrations.create({ address })
    const share = async () => {
      const response = await fetch(`${server.url}/api/v1/integration/idv-share-token`, {
        method: 'POST',
        headers: { authorization: basic(address, apiSecret), 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'user@shop.example', kycShareToken: mintToken(provider) }),
      })
      return response.json()
    }

    expect(await share()).toMatchObject({ reviewStatus: begun, reused: true })
    provider.setWebhooks('Service', [{ url: `${server.url}${verdictPath}`, secretKey: 'old-secret' }])
    provider.approve(provider.redemptions[0]?.applicantId ?? '')
    expect((await provider.deliverWebhooks()).map(({ status }) => status)).toEqual([200])
    expect(await share()).toMatchObject({ reviewStatus: 'completed', reviewAnswer: 'GREEN', reused: false })
    const redeeming = provider.requests.map(({ operation }) => operation)
    expect(redeeming).toEqual([redeemBy])
  },
)

it('a shutdown does not wait for a poll of a provider that hangs', async () => {
  const provider = await startProvider()
  const server = await startTempServer(sharingVariables(provider))
  const { identity, store } = server.service
  if (identity === null) throw new Error('Sharing is off.')
  await identity.share({ integrationAddress: address, email: 'user@shop.example', shareToken: mintToken(provider) })
  const [subject] = await identity.subjects({ limit: 1 })
  provider.fail({ on: 'status', at: 'before', answer: 'hang', times: 1_000 })
  await store.transaction(async (tx) => {
    await tx.identity.lockPersons({ subjectId: subject?.id })
    await tx.identity.changeVerification(subject?.id ?? '', { pollInMs: 0 })
  })
  const asked = provider.requests.length
  const loop = new AbortController()
  const running = identity.run(loop.signal)
  await vi.waitUntil(() => provider.requests.length > asked, { timeout: 300_000, interval: 5 })
  const before = performance.now()
  loop.abort()
  await running
  expect(performance.now() - before).toBeLessThan(60_000)
})
