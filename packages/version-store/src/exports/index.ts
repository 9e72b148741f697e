export { createReceiver, type ReceiveResult, type Receiver, type ReceiverOptions } from '../create-receiver.js'
export {
  EffectReentrantError,
  LeaseLostError,
  StoreBusyError,
  TableMissingError,
  TransactionEndedError,
  TransactionFailedError,
  TransactionOpenError,
  VersionStoreError,
  type VersionStoreErrorCode,
} from '../errors.js'
export { createMemoryVersionStore } from '../memory-version-store.js'
export {
  checkVersion,
  decideVersion,
  type Effect,
  type ListingVersionStore,
  normalizeKey,
  type PaymentKey,
  type VersionDecision,
  type VersionedPayment,
  type VersionStore,
} from '../version-store.js'
