export type { Applicant } from '../applicant.js'
export { createProvider, type IdentityProvider, type ProviderOptions } from '../create-provider.js'
export {
  type ApplicantEvent,
  createWebhookReader,
  type OtherEvent,
  type RawWebhook,
  type WebhookReader,
  type WebhookReaderOptions,
} from '../read-webhook.js'
export { type DatedReview, providerStatuses, type Review } from '../review.js'
