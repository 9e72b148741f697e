/** A host of the service with its own users, whose identity an integration shares. @module */
import { randomBytes } from 'node:crypto'
import { knownRouters } from '@payment-integration/chain-evm'
import { createClient } from '@payment-integration/client'
import type { Service } from '@payment-integration/core'
import { startIdentityProvider } from '../src/exports/identity-provider.js'

const shop = { clientId: 'Shop', appToken: 'sbx:shop', secretKey: 'secret-of-the-shop', partners: ['Host'] }
const own = { clientId: 'Host', appToken: 'sbx:host', secretKey: 'secret-of-the-host', partners: ['Shop'] }
const webhookSecret = 'secret-of-the-webhook'
const integrationAddress = `0x${'a1'.repeat(20)}`

/** Options of every host: nothing answers at its node, and the identity provider is on this machine. */
const getOptions = (baseUrl: string) => ({
  masterKey: randomBytes(32).toString('hex'),
  chainId: 8453,
  rpcUrl: 'http://127.0.0.1:1',
  routers: knownRouters(8453),
  port: 0,
  identity: { appToken: own.appToken, secretKey: own.secretKey, levelName: 'basic-kyc-level', webhookSecret, baseUrl },
})

/** Starts a host by `start` beside an identity provider. */
export async function startHostWithUsers<
  Host extends { readonly url: string; readonly service: Service; stop(): Promise<void> },
>(start: (options: ReturnType<typeof getOptions>) => Promise<Host>) {
  const provider = await startIdentityProvider({ clients: [shop, own] })
  const host = await start(getOptions(provider.url))
  const baseUrl = `${host.url}/payments-service`
  const webhook = { url: `${baseUrl}/api/v1/identity-provider/webhook`, secretKey: webhookSecret }
  provider.setWebhooks('Host', [webhook])
  const { apiSecret } = await host.service.integrations.create({ address: integrationAddress })
  const client = createClient({ baseUrl, integrationAddress, apiSecret })
  return {
    host,
    provider,
    /** The integration shares a verification of its own for an address. */
    share(email: string) {
      const { id: applicantId } = provider.addApplicant({ clientId: 'Shop' })
      const kycShareToken = provider.mintShareToken({ applicantId, forClientId: 'Host' })
      return client.identity.share({ email, kycShareToken })
    },
    async approveNewest() {
      provider.approve(provider.redemptions.at(-1)?.applicantId ?? '')
      await provider.deliverWebhooks()
    },
    getSubjects: (accountId: string) => host.service.identity?.subjects({ accountId, limit: 10 }),
    async stop() {
      await host.stop()
      await provider.close()
    },
  }
}
