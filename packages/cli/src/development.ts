/** Tools, simulated chains and identity provider of a development server, loaded on first use. @module */
import type { DevelopmentTools } from '@payment-integration/server/internal'
import type { StartOptions } from '@payment-integration/server/service'
import type { TriggerIdentity } from '@payment-integration/testing/identity-provider'
import type { Io } from './io.js'

/** The doctor and the explanation of deliveries; the code of each is loaded on first use. */
export const developmentTools: DevelopmentTools = {
  async doctor({ url, signingSecret, integrationAddress, signal, onProbe }) {
    const { runDoctor } = await import('@payment-integration/testing/doctor')
    return runDoctor({ url, signingSecret, integrationAddress, signal, onProbe })
  },
  async explain({ headers, body, signingSecret, receivedAt }) {
    const { explainDelivery, parseHeaders, UnreadableRequestError } = await import(
      '@payment-integration/testing/explain'
    )
    try {
      const secrets = [{ name: 'the signing secret of the integration', value: signingSecret }]
      return await explainDelivery({ headers: parseHeaders(headers), body, secrets, clock: { now: () => receivedAt } })
    } catch (error) {
      if (error instanceof UnreadableRequestError) return { problem: error.message }
      throw error
    }
  },
}

/** Builds the server option `simulateChains`. Without `identity`, the scenario `kyc` fails. */
export function simulateChainsWith(
  io: Pick<Io, 'randomBytes'>,
  identity: TriggerIdentity | undefined,
): NonNullable<StartOptions['simulateChains']> {
  return async (world) => {
    const { createSimulatedChains } = await import('@payment-integration/testing/twin')
    return createSimulatedChains({ ...world, seed: randomSeed(io), identity })
  }
}

export const randomSeed = (io: Pick<Io, 'randomBytes'>) => Buffer.from(io.randomBytes(4)).readUInt32BE(0)

const shop = 'DemoShop'
const shopToken = 'sbx:demo-shop'
const service = 'PaymentService'
/** Time until the provider approves: long enough to show the pending state, short enough to wait for. */
const approvesAfterMs = 1_500
const weekInSecs = 7 * 24 * 60 * 60

/** A secret for one run: 32 random bytes as base64url. */
export const secretText = (io: Pick<Io, 'randomBytes'>) => Buffer.from(io.randomBytes(32)).toString('base64url')

/** Starts an identity provider whose verdicts `trigger` can choose. */
export async function startDemoIdentity(io: Pick<Io, 'randomBytes'>) {
  const [secretKey, webhookSecret, shopKey] = [secretText(io), secretText(io), secretText(io)]
  const { startIdentityProvider, triggerIdentity } = await import('@payment-integration/testing/identity-provider')
  const provider = await startIdentityProvider({
    clients: [
      { clientId: shop, appToken: shopToken, secretKey: shopKey, partners: [service] },
      { clientId: service, appToken: 'sbx:payment-service', secretKey, partners: [shop] },
    ],
    sendsWebhooks: true,
    approvesAfterMs,
  })
  const { id: applicantId } = provider.addApplicant({ clientId: shop })
  return {
    url: provider.url,
    minting: { baseUrl: provider.url, appToken: shopToken, secretKey: shopKey, applicantId, forClientId: service },
    variables: {
      PI_IDENTITY_URL: provider.url,
      PI_IDENTITY_APP_TOKEN: 'sbx:payment-service',
      PI_IDENTITY_SECRET_KEY: secretKey,
      PI_IDENTITY_LEVEL: 'basic-kyc-level',
      PI_IDENTITY_WEBHOOK_SECRETS: webhookSecret,
    },
    mint: () => provider.mintShareToken({ applicantId, forClientId: service, ttlInSecs: weekInSecs }),
    trigger: triggerIdentity(provider, { donor: shop, service }),
    sendWebhooksTo(serviceUrl: string) {
      const url = `${serviceUrl}/api/v1/identity-provider/webhook`
      provider.setWebhooks(service, [{ url, secretKey: webhookSecret }])
    },
    close: () => provider.close(),
  }
}
