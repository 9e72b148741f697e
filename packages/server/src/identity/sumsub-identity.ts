/** Joins the two halves of sharing at Sumsub: calls to the provider, and its webhooks. @module */
import { createWebhookReader, type WebhookReader } from '@payment-integration/identity-sumsub/service'
import type { ClosableIdentityProvider } from './limited-provider.js'
import { createSumsubProvider, type SumsubProviderOptions } from './sumsub-provider.js'

/** How a service shares verifications at Sumsub. */
export interface SumsubIdentityOptions extends SumsubProviderOptions {
  /** The secret of the webhook, as set at the provider; several during a rotation. */
  readonly webhookSecret: string | readonly string[]
}

/** The parts of sharing. */
export interface SumsubIdentity {
  /** For `identity.provider` of `createService`. */
  readonly provider: ClosableIdentityProvider
  /** For `createApp`. */
  readonly readWebhook: WebhookReader
}

/**
 * Builds both parts.
 * @throws TypeError When an option is blank or malformed. @throws RangeError When `timeoutMs` is out of range.
 */
export function createSumsubIdentity({ webhookSecret, ...options }: SumsubIdentityOptions): SumsubIdentity {
  return { provider: createSumsubProvider(options), readWebhook: createWebhookReader({ secret: webhookSecret }) }
}
