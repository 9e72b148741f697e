/** Runs the demo's identity provider, with a user that the demo shop has verified. @module */

import type { TriggerIdentity } from '@payment-integration/testing/identity-provider'
import {
  startIdentityProvider,
  type TestIdentityProvider,
  triggerIdentity,
} from '@payment-integration/testing/identity-provider'
import type { ReadyEvent } from './demo-events.js'

/** A running provider. */
export interface DemoIdentity {
  readonly url: string
  /** Variables of a server that uses this provider. */
  readonly variables: Readonly<Record<string, string>>
  /** Creates a share token of a user, valid for a week. */
  mint(): string
  /** Everything that `mintShareToken` needs for the shop's verified user. */
  readonly minting: ReadyEvent['minting']
  /** For triggers: mints tokens and decides. */
  readonly trigger: TriggerIdentity
  /** Starts to send webhooks to a server. */
  follow(serviceUrl: string): void
  close(): Promise<void>
}

const shop = 'DemoShop'
const shopToken = 'sbx:demo-shop'
const service = 'PaymentService'
/** Long enough to show the pending state, short enough to wait for. */
const approvesAfterMs = 1_500
const weekInSecs = 7 * 24 * 60 * 60

/** Starts the provider. @param secret - Creates a secret for this run. */
export async function startDemoIdentity(secret: () => string): Promise<DemoIdentity> {
  const [secretKey, webhookSecret, shopKey] = [secret(), secret(), secret()]
  const provider: TestIdentityProvider = await startIdentityProvider({
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
    minting: {
      baseUrl: provider.url,
      appToken: shopToken,
      secretKey: shopKey,
      applicantId,
      forClientId: service,
    },
    variables: {
      PI_IDENTITY_URL: provider.url,
      PI_IDENTITY_APP_TOKEN: 'sbx:payment-service',
      PI_IDENTITY_SECRET_KEY: secretKey,
      PI_IDENTITY_LEVEL: 'basic-kyc-level',
      PI_IDENTITY_WEBHOOK_SECRETS: webhookSecret,
    },
    mint: () => provider.mintShareToken({ applicantId, forClientId: service, ttlInSecs: weekInSecs }),
    trigger: triggerIdentity(provider, { donor: shop, service }),
    follow(serviceUrl) {
      const url = `${serviceUrl}/api/v1/identity-provider/webhook`
      provider.setWebhooks(service, [{ url, secretKey: webhookSecret }])
    },
    close: () => provider.close(),
  }
}
