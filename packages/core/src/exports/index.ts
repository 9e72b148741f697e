export type { ActorCommands, RecordedAct } from '../actor-commands.js'
export * from '../errors.js'
export type * from '../events.js'
export type { AuditHead, AuditQueries, AuditVerdict } from '../history/audit-store.js'
export type {
  EndedHistory,
  HistoryCommands,
  HistoryPlan,
  RetentionOptions,
  RetentionPolicy,
  RetentionProgress,
} from '../history/history-store.js'
export { ChainAdapterError, createCheckedChain, rangeFlaw } from '../indexer/checked-chain.js'
export type { Reorganisation } from '../indexer/follower.js'
export { pollWaitMs } from '../indexer/follower.js'
export type { FulfilmentPoller } from '../indexer/fulfilments.js'
export { type FulfilmentPollerOptions, fulfilmentPollerDefaults } from '../indexer/fulfilments.js'
export type { ChainStatus, Indexer } from '../indexer/indexer.js'
export { type IndexerOptions, indexerDefaults } from '../indexer/indexer.js'
export type { Difference } from '../indexer/recheck.js'
export type { ChainCommands, ReindexReport, ReindexRequest } from '../indexer/reindex.js'
export { type ReindexDeps, ReindexError, reindex } from '../indexer/reindex.js'
export { BrokenHistoryError, DeepReorganisationError } from '../indexer/reorganise.js'
export type {
  Caller,
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
export type { AccountCommands, AccountInput } from '../legacy/accounts.js'
export type { LegacyCaller, LegacyKeyCommands, LegacyKeyView } from '../legacy/keys.js'
export { defaultMaxExtraFeeBps } from '../legacy/pricing.js'
export type { Confirmations, LegacyQueries } from '../legacy/queries.js'
export { type CheckedVerifyRequest, parseVerifyRequest } from '../legacy/verify-request.js'
export type {
  CheckTotals,
  DeliveryCommands,
  EndpointCommands,
  ReplayTotals,
  SentTest,
} from '../notifications/delivery-commands.js'
export { oldSnapshotMs } from '../notifications/delivery-commands.js'
export type { Dispatcher } from '../notifications/dispatcher.js'
export { type DispatcherOptions, dispatcherDefaults, minLeaseMs } from '../notifications/round.js'
export { answerText } from '../notifications/schedule.js'
export type { DeliveryStreams, StreamMessage, StreamRequest } from '../notifications/streams.js'
export type {
  IssuedLink,
  NewSession,
  OperatorChangeOptions,
  OperatorCommands,
  OperatorSessions,
  OperatorView,
  SignedInOperator,
} from '../operators/operator-store.js'
export type { JoinedUpdate } from '../payments/apply-updates.js'
export type { ReceiptPoller } from '../payments/receipts.js'
export { type ReceiptPollerOptions, receiptPollerDefaults } from '../payments/receipts.js'
export { createUpdateReceiver, type ReceivedUpdate, type UpdateReceiver } from '../payments/receive-updates.js'
export type { Recording } from '../payments/recording.js'
export { decideTransition, type TransitionDecision } from '../payments/state.js'
export {
  loadPackage,
  readRequestBody,
  silentLogger,
  steadyClock,
  steadyNow,
  systemClock,
  systemIds,
  systemRandom,
} from '../ports/world.js'
export type {
  LeaseCommands,
  LeaseView,
  LoopRoles,
  ProcessFacts,
  ProcessQueries,
  RunningProcess,
  RunOptions,
} from '../processes/processes.js'
export type { ChooseVersions, IntegrationQueries, PaymentDetail, Queries, StoredSnapshot } from '../queries.js'
export { type KeyPurpose, type KeyVersion, type MasterKey, parseMasterKey } from '../secrets/keys.js'
export { checkMasterKey, MasterKeyError, openSecret, SealedSecretError } from '../secrets/seal.js'
export { ArchiveError } from '../secrets/signed-file.js'
export type { Service } from '../service.js'
export { createService, type FollowedChain, type ServiceDeps } from '../service.js'
