import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { expect, it, onTestFinished } from 'vitest'
import { basic } from '../../test/support/integration-service.js'
import { donor, mintToken, recipient, sharingVariables } from '../../test/support/sharing-service.js'
import { startTempServer } from '../../test/support/temp-server.js'
import { verdictPath } from '../app/webhook-routes.js'

it.each([
  ['reuse', 'pending'],
  ['import', 'init'],
] as const)(
  'a server with the variables of sharing redeems by %s and takes verdicts signed with each secret',
  async (redeemBy, begun) => {
    const provider = await startIdentityProvider({ clients: [donor, recipient] })
    onTestFinished(() => provider.close())
    const variables = { PI_IDENTITY_WEBHOOK_SECRETS: 'new-secret,old-secret', PI_IDENTITY_REDEEM_BY: redeemBy }
    const server = await startTempServer({ ...sharingVariables(provider), ...variables })
    const address = `0x${'ab'.repeat(20)}`
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
