export * from '../errors.js'
export * from '../headers.js'
export * from '../identity.js'
export * from '../legacy.js'
export * from '../legacy-snapshot.js'
export * from '../limits.js'
export * from '../paths.js'
export * from '../payment.js'
export * from '../payment-state.js'
export * as primitives from '../primitives.js'
export * from '../processor-update.js'
export {
  type Invoice,
  invoiceSchema,
  invoiceWriteSchema,
  type Recipient,
  recipientSchema,
  recipientWriteSchema,
  type Snapshot,
  snapshotSchema,
  snapshotWriteSchema,
} from '../snapshot.js'
