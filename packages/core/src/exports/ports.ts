export type { AuditAction, AuditEntry, AuditRecord, AuditStore } from '../history/audit-store.js'
export type {
  ArchivedFile,
  ArchiveHeader,
  AttemptHistory,
  DeliveryHistory,
  HistoryArchive,
  HistoryKind,
  HistoryPart,
  HistoryRows,
  HistorySegment,
  HistoryStore,
  PendingDeliveries,
  SegmentedKind,
  UpdateHistory,
} from '../history/history-store.js'
export type * from '../identity/identity-store.js'
export type * from '../indexer/chain-store.js'
export type { IntegrationRecord, IntegrationStore, StoredCredentials } from '../integrations/integration.js'
export type {
  MovedPayment,
  MovedPaymentKey,
  MovedSchedule,
  MovedUpdate,
  MovedVersion,
  MoveStore,
  MoveTransaction,
  StoredMove,
  UnnotifiedVersion,
  UpdatePage,
} from '../integrations/move-types.js'
export type {
  IntegrationSessionRecord,
  IntegrationSessionStore,
  IntegrationSessionTransaction,
} from '../integrations/session-types.js'
export type * from '../legacy/legacy-store.js'
export { type ConversionFeed, convertAmount } from '../legacy/pricing.js'
export { excerptBytes } from '../notifications/attempt.js'
export type * from '../notifications/delivery-store.js'
export { endpointOf } from '../notifications/schedule.js'
export type {
  OneTimeLink,
  OperatorChange,
  OperatorRecord,
  OperatorRole,
  OperatorStore,
  OperatorTransaction,
  SessionRecord,
} from '../operators/operator-store.js'
export type { PaymentFacts, PriceFeedFacts, PricingFacts, TokenFacts } from '../payments/payment.js'
export { initialStatus, type PaymentStatus, type StoredPayment } from '../payments/payment.js'
export type * from '../payments/payment-store.js'
export { unsettledStates } from '../payments/state.js'
export type * from '../ports/chain.js'
export type * from '../ports/identity.js'
export type * from '../ports/sender.js'
export type * from '../ports/sources.js'
export type { SchemaProgress, SchemaReport, SchemaStep, Store, StoreSchema, StoreTransaction } from '../ports/store.js'
export type * from '../ports/store-console.js'
export type { Clock, FileReader, FileWriter, Ids, Logger, Random } from '../ports/world.js'
export type {
  DataKeyStore,
  DataKeyTransaction,
  SealedSecret,
  SealingKeyUse,
  SecretHash,
  StoredDataKey,
} from '../secrets/keys.js'
