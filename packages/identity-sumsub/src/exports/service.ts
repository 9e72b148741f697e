export type { SumsubReview } from '../sumsub-client.js'
export { createSumsubClient, type SumsubClient, type SumsubClientOptions } from '../sumsub-client.js'
export type { ApplicantEvent, WebhookReader, WebhookReaderOptions } from '../webhook-reader.js'
export { createWebhookReader } from '../webhook-reader.js'
