export * from '../errors.js'
export type * from '../events.js'
export type {
  EndedHistory,
  HistoryCommands,
  HistoryPlan,
  RetentionOptions,
  RetentionPolicy,
  RetentionProgress,
} from '../history/history-store.js'
export { ChainAdapterError, createCheckedChain, rangeFlaw } from '../indexer/checked-chain.js'
export { pollWaitMs } from '../indexer/follower.js'
export { type FulfilmentPollerOptions, fulfilmentPollerDefaults } from '../indexer/fulfilments.js'
export { type IndexerOptions, indexerDefaults } from '../indexer/indexer.js'
export { type ReindexDeps, ReindexError, reindex } from '../indexer/reindex.js'
export type * from '../indexer/reindex-types.js'
export { BrokenHistoryError, DeepReorganisationError } from '../indexer/reorganise.js'
export type {
  IntegrationCommands,
  IntegrationView,
  IssuedIntegration,
  Resealed,
  UnrecordedRange,
} from '../integrations/integration.js'
export { MoveError } from '../integrations/move-file.js'
export type { ExportedIntegration, ImportedIntegration, MoveCommands } from '../integrations/move-types.js'
export {
  type NotificationUrlRule,
  notificationPorts,
  readNotificationUrl,
} from '../integrations/notification-url.js'
export type { IntegrationSessions, NewIntegrationSession, SignedInIntegration } from '../integrations/session-types.js'
export { defaultMaxExtraFeeBps } from '../legacy/pricing.js'
export type { Confirmations } from '../legacy/queries.js'
export { type CheckedVerifyRequest, parseVerifyRequest } from '../legacy/verify-request.js'
export { oldSnapshotMs } from '../notifications/delivery-commands.js'
export type * from '../notifications/delivery-types.js'
export { type DispatcherOptions, dispatcherDefaults, minLeaseMs } from '../notifications/round.js'
export { answerText } from '../notifications/schedule.js'
export type * from '../notifications/stream-types.js'
export type {
  IssuedLink,
  NewSession,
  OperatorChangeOptions,
  OperatorCommands,
  OperatorSessions,
  OperatorView,
  SignedInOperator,
} from '../operators/operator-store.js'
export { type ReceiptPollerOptions, receiptPollerDefaults } from '../payments/receipts.js'
export { createUpdateReceiver, type ReceivedUpdate, type UpdateReceiver } from '../payments/receive-updates.js'
export type { Recording } from '../payments/recording.js'
export { decideTransition, type TransitionDecision } from '../payments/state.js'
export type {
  LeaseCommands,
  LeaseView,
  LoopRoles,
  ProcessFacts,
  ProcessQueries,
  RunningProcess,
  RunOptions,
} from '../processes/leases.js'
export type { ChooseVersions, IntegrationQueries, PaymentDetail, Queries, StoredSnapshot } from '../queries.js'
export { type KeyPurpose, type KeyVersion, type MasterKey, parseMasterKey } from '../secrets/keys.js'
export { checkMasterKey, MasterKeyError, openSecret, SealedSecretError } from '../secrets/seal.js'
export { ArchiveError } from '../secrets/signed-file.js'
export { createService, type FollowedChain, type ServiceDeps } from '../service.js'
export type * from '../service-types.js'
export {
  loadPackage,
  readRequestBody,
  silentLogger,
  steadyClock,
  steadyNow,
  systemClock,
  systemIds,
  systemRandom,
} from '../world/system.js'
