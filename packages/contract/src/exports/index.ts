export { type ErrorBody, errorBodySchema, type ShareRejectedBody, shareRejectedBodySchema } from '../error-bodies.js'
export { finality } from '../finality.js'
export {
  type FormerVerdict,
  type OpenShareResponse,
  openShareResponseSchema,
  parseFormerVerdict,
  type ReviewStatus,
  reviewStatuses,
  type ShareResponse,
  shareRequestLimits,
  shareResponseSchema,
} from '../identity.js'
export {
  currencyCodePattern,
  type LegacyErrorBody,
  type Lookup,
  legacyErrorBodySchema,
  lookupSchema,
  type VerificationError,
  type VerifyRequest,
  type VerifyResponse,
  verificationErrors,
  verifyRequestLimits,
  verifyRequestSchema,
  verifyResponseSchema,
} from '../legacy.js'
export type { CoinConfig, FlatTransaction, LinkConfig } from '../legacy-snapshot.js'
export { flatTransactionSchema, linkConfigLimits, linkConfigSchema } from '../legacy-snapshot.js'
export type { OpenPage, OpenPayment, PageBody, PaymentBody } from '../payment.js'
export { pageSchema, paymentSchema } from '../payment.js'
export { type OpenPaymentState, type PaymentState, paymentStates } from '../payment-state.js'
export type { OpenEnum } from '../primitives.js'
export {
  maxUpdatesPerRequest,
  type ProcessorUpdate,
  processorUpdateSchema,
  processorUpdatesSchema,
  type UpdateOutcome,
  type UpdateResult,
  type UpdateResults,
  updateOutcomes,
  updateResultSchema,
  updateResultsSchema,
} from '../processor-updates.js'
export { createSchemaReader, type ReadResult, type SchemaReader, type UnknownPart } from '../schema-reader.js'
export { type ShareRequest, shareRequestSchema } from '../share-request.js'
export type { InvoiceBody, OpenSnapshot, RecipientBody, SnapshotBody } from '../snapshot.js'
export { invoiceSchema, recipientSchema, snapshotSchema } from '../snapshot.js'
export {
  deliveryTimeoutMs,
  integrationHeader,
  notificationUserAgent,
  pageLimit,
  paths,
  shareTokenLifetimeSeconds,
  signatureHeader,
  signatureToleranceSeconds,
} from '../wire.js'
