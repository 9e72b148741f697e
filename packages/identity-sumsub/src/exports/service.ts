export { createSumsubApi, type SumsubApi, type SumsubApiOptions } from '../create-sumsub-api.js'
export {
  type ApplicantEvent,
  createWebhookReader,
  type WebhookReader,
  type WebhookReaderOptions,
} from '../read-webhook.js'
export type { SumsubReview } from '../review.js'
