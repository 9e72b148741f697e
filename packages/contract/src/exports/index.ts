export * from '../delivery-stream.js'
export * from '../errors.js'
export * from '../finality.js'
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
export type { OpenEnum } from '../mode.js'
export { parseUrl } from '../parse-url.js'
export * from '../payment.js'
export { type OpenPaymentState, type PaymentState, paymentStates } from '../payment-state.js'
export * as primitives from '../primitives.js'
export { createReader, type Reader, type ReadResult, type UnknownPart } from '../reader.js'
export * from '../requests.js'
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
export * from '../wire.js'
