export * from '../errors.js'
export { type FormerVerdict, readFormerVerdict, shareRejectedMessage } from '../former-verdict.js'
export * from '../headers.js'
export * from '../identity.js'
export * from '../legacy.js'
export * from '../legacy-snapshot.js'
export * from '../limits.js'
export type { OpenWord } from '../open-word.js'
export * from '../paths.js'
export * from '../payment.js'
export {
  type OpenPaymentState,
  openPaymentState,
  type PaymentState,
  paymentState,
  paymentStates,
} from '../payment-state.js'
export * as primitives from '../primitives.js'
export * from '../processor-update.js'
export { createReader, type Read, type Reader } from '../reader.js'
export {
  type Invoice,
  invoiceSchema,
  invoiceWriteSchema,
  type OpenSnapshot,
  type Recipient,
  recipientSchema,
  recipientWriteSchema,
  type Snapshot,
  snapshotSchema,
  snapshotWriteSchema,
} from '../snapshot.js'
export type { Stranger } from '../stranger.js'
