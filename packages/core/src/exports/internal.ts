/** For the packages of this workspace alone: any release may change these names. @module */
export type { ActorCommands } from '../actor-commands.js'
export { InvalidRequestError, type OperatorErrorCode, RequestBodyError } from '../errors.js'
export type * from '../history/audit-store.js'
export type { ExportFormat, ExportRows, Listing } from '../history/export.js'
export type * from '../history/history-store.js'
export { createCheckedProvider } from '../identity/checked-provider.js'
export type * from '../identity/identity-store.js'
export { type CloseRequest, type CloseResult, isResolvable, type ResolveResult } from '../identity/operator-actions.js'
export { checkNamespace, defaultNamespace } from '../identity/redemption.js'
export type * from '../indexer/chain-store.js'
export { createCheckedChain, findRangeFlaw } from '../indexer/checked-chain.js'
export { getHeadPollMs } from '../indexer/follower.js'
export type { Indexer } from '../indexer/indexer.js'
export { type ReindexDifference, reindex } from '../indexer/reindex.js'
export type * from '../integrations/integration.js'
export { integrationActor } from '../integrations/integration-sessions.js'
export type * from '../integrations/move-store.js'
export { checkNotificationUrl, type NotificationUrlRule, notificationPorts } from '../integrations/notification-url.js'
export { assertWhole, groupBy } from '../internal/values.js'
export type { AccountInput } from '../legacy/accounts.js'
export { type Confirmations, createFinality } from '../legacy/finality.js'
export { convertAmount, defaultMaxExtraFeeBps } from '../legacy/invoice-and-fees.js'
export type { LegacyKeyView } from '../legacy/keys.js'
export type * from '../legacy/legacy-store.js'
export { excerptBytes } from '../notifications/attempt.js'
export type { CheckTotals, DeliveryCommands, ReplayTotals, SentTest } from '../notifications/delivery-commands.js'
export { oldSnapshotMs } from '../notifications/delivery-commands.js'
export type * from '../notifications/delivery-store.js'
export { dispatcherDefaults } from '../notifications/dispatch-run.js'
export { getEndpoint } from '../notifications/endpoint-health.js'
export { formatAnswer } from '../notifications/retry-schedule.js'
export type { DeliveryStreams, StreamMessage } from '../notifications/streams.js'
export type * from '../operators/console-reads.js'
export type { OperatorSessions } from '../operators/operator-sessions.js'
export {
  type IssuedLink,
  type NewSession,
  OidcRejectedError,
  type OperatorRecord,
  type OperatorRole,
  type OperatorStore,
  type OperatorTransaction,
  type SessionRecord,
  type SessionTransaction,
} from '../operators/operator-store.js'
export { unsettledStates } from '../payments/change-status.js'
export { formatUnits, initialStatus, parseMemo, sumDecimals } from '../payments/payment.js'
export type * from '../payments/payment-store.js'
export { matchesConsoleFilter } from '../payments/read-api.js'
export type { EmailAddress, ProviderAnswer } from '../ports/identity.js'
export { createMonotonicClock, createMonotonicNow, loadPackage, readRequestBody } from '../ports/runtime.js'
export type * from '../ports/store.js'
export type { LoopRoles, RunningProcess } from '../processes/processes.js'
export type { StoredSnapshot } from '../queries.js'
export type { DataKeyStore, DataKeyTransaction, SealedSecret, SealingKeyUse } from '../secrets/keys.js'
export { openSecret } from '../secrets/seal.js'
