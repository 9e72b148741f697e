export type { SumsubReview } from '../sumsub-client.js'
export { createSumsubClient, type SumsubClient, type SumsubClientOptions } from '../sumsub-client.js'
export {
  type ApplicantEvent,
  createWebhookReader,
  type WebhookReader,
  type WebhookReaderOptions,
} from '../webhook-reader.js'
