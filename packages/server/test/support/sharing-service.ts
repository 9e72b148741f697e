/** A service that shares verifications, beside an identity provider that runs on this machine. */
import { createSumsubClient, createWebhookReader } from '@payment-integration/identity-sumsub/service'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { verdictPath } from '../../src/app/webhook-routes.js'
import { createSumsubIdentityProvider } from '../../src/identity/sumsub-provider.js'
import { type ClauseOptions, type Shop, startClauses } from './clause-service.js'

/** The integrator's client at the provider. */
export const donor = { clientId: 'Shop', appToken: 'sbx:shop', secretKey: 'secret-of-the-shop', partners: ['Service'] }
const recipientKeys = { appToken: 'sbx:service', secretKey: 'secret-of-the-service' }
/** The service's own client at the provider. */
export const recipient = { clientId: 'Service', partners: ['Shop'], ...recipientKeys }
export const webhookSecret = 'secret-of-the-webhook'

type LocalProvider = Awaited<ReturnType<typeof startIdentityProvider>>

/** Variables of a server that shares through this provider. */
export const sharingVariables = ({ url }: LocalProvider) => ({
  PI_IDENTITY_URL: url,
  PI_IDENTITY_APP_TOKEN: recipient.appToken,
  PI_IDENTITY_SECRET_KEY: recipient.secretKey,
  PI_IDENTITY_LEVEL: 'basic-kyc-level',
  PI_IDENTITY_WEBHOOK_SECRETS: webhookSecret,
})

/** A token of an applicant that the shop has verified. */
export function mintToken(provider: LocalProvider): string {
  const { id: applicantId } = provider.addApplicant({ clientId: donor.clientId })
  return provider.mintShareToken({ applicantId, forClientId: recipient.clientId })
}

/** Starts both. `timeoutMs`: how long the service waits for the provider. */
export async function startSharing({ timeoutMs = 600_000, ...options }: ClauseOptions & { timeoutMs?: number } = {}) {
  let heldAt: number | null = null
  const clock = { now: () => heldAt ?? Date.now() }
  const provider = await startIdentityProvider({ clients: [donor, recipient], clock })
  const { appToken, secretKey } = recipient
  let passedMs = 0
  const clauses = await startClauses({
    ...options,
    identity: {
      provider: createSumsubIdentityProvider(createSumsubClient, {
        baseUrl: provider.url,
        appToken,
        secretKey,
        levelName: 'basic-kyc-level',
        timeoutMs,
        monotonicClock: { now: () => performance.now() + passedMs },
      }),
      readWebhook: createWebhookReader({ secret: webhookSecret }),
    },
  })
  const { identity } = clauses.service
  if (identity === null) throw new Error('The service was built without an identity provider.')
  provider.setWebhooks('Service', [{ url: `${clauses.url}${verdictPath}`, secretKey: webhookSecret }])
  return {
    ...clauses,
    provider,
    identity,
    /** Advances the clock of the provider's rate limits, in milliseconds. */
    pass(ms: number): void {
      passedMs += ms
    },
    /**
     * Stops the provider's clock until the returned function is called. Its messages about a token contain the second.
     * Call it within a minute, as signatures age.
     */
    holdTime(): () => void {
      heldAt = Date.now()
      return () => {
        heldAt = null
      }
    },
    mint: () => mintToken(provider),
    share(shop: Shop, email: string, kycShareToken: string) {
      return clauses.post('idv-share-token', shop.authorization, JSON.stringify({ email, kycShareToken }))
    },
    async stop() {
      await clauses.stop()
      await provider.close()
    },
  }
}
