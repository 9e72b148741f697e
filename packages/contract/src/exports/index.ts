export * from '../delivery-stream.js'
export * from '../errors.js'
export { type FormerVerdict, readFormerVerdict, shareRejectedMessage } from '../former-verdict.js'
export * from '../headers.js'
export * from '../identity.js'
export * from '../legacy.js'
export {
  type Account,
  accountSchema,
  type CoinConfig,
  coinConfigSchema,
  type FlatTransaction,
  flatTransactionSchema,
  type LinkConfig,
  linkConfigLimits,
  linkConfigSchema,
  linkConfigWriteSchema,
  type OnCompleteAction,
  onCompleteActionSchema,
} from '../legacy-snapshot.js'
export * from '../limits.js'
export type { OpenEnum } from '../open-enum.js'
export { parseUrl } from '../parse-url.js'
export * from '../paths.js'
export * from '../payment.js'
export { type OpenPaymentState, type PaymentState, paymentStates } from '../payment-state.js'
export * as primitives from '../primitives.js'
export * from '../processor-update.js'
export { createReader, type Reader, type ReadResult } from '../reader.js'
export * from '../share-request.js'
export {
  type InvoiceBody,
  invoiceSchema,
  type OpenSnapshot,
  type RecipientBody,
  recipientSchema,
  type SnapshotBody,
  snapshotSchema,
  snapshotWriteSchema,
} from '../snapshot.js'
export * from '../trigger.js'
export type { UnknownPart } from '../unknown-part.js'
