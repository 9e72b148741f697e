export type { SumsubReview } from '../sumsub-api.js'
export { createSumsubApi, type SumsubApi, type SumsubApiOptions } from '../sumsub-api.js'
export {
  type ApplicantEvent,
  createWebhookReader,
  type WebhookReader,
  type WebhookReaderOptions,
} from '../webhook-reader.js'
