export { createSumsubApi, type SumsubApi, type SumsubApiOptions } from '../create-sumsub-api.js'
export {
  type ApplicantEvent,
  createWebhookReader,
  type OtherEvent,
  type RawWebhook,
  type WebhookReader,
  type WebhookReaderOptions,
} from '../read-webhook.js'
export { type DatedSumsubReview, providerStatuses, type SumsubApplicant, type SumsubReview } from '../review.js'
