export {
  AccountError,
  AmbiguousPaymentError,
  ChainError,
  CoreError,
  type CoreErrorCode,
  DeliveryError,
  IntegrationError,
  InvalidLegacyRequestError,
  LegacyKeyNotFoundError,
  MissingPackageError,
  PaymentNotFoundError,
  StoreError,
  TransactionNotFoundError,
  UpdateConflictError,
} from '../errors.js'
export type { EventSink, ServiceEvent } from '../events.js'
export type { RetentionPolicy } from '../history/history-store.js'
export type { ChainStatus, IndexerOptions } from '../indexer/indexer.js'
export { ReindexError, type ReindexReport } from '../indexer/reindex.js'
export type { IntegrationView, IssuedIntegration } from '../integrations/integration.js'
export { MoveError } from '../integrations/move-store.js'
export type { LegacyCaller } from '../legacy/keys.js'
export { parseVerifyRequest } from '../legacy/legacy-requests.js'
export type { DispatcherOptions } from '../notifications/dispatch-run.js'
export { operatorActor } from '../operators/operator-sessions.js'
export {
  LinkRejectedError,
  OperatorError,
  type OperatorView,
  operatorRoles,
  PassphraseError,
  SignInLimitedError,
  SignInRejectedError,
} from '../operators/operator-store.js'
export { passphraseLength } from '../operators/passphrase.js'
export { decideTransition, type TransitionDecision } from '../payments/change-status.js'
export { createUpdateReceiver, type UpdateReceiver } from '../payments/receive-updates.js'
export type { Recording } from '../payments/recording.js'
export { silentLogger, systemClock, systemIds, systemRandom } from '../ports/runtime.js'
export type { IntegrationQueries, Queries } from '../queries.js'
export { type MasterKey, parseMasterKey } from '../secrets/keys.js'
export { checkMasterKey, MasterKeyError } from '../secrets/seal.js'
export { ArchiveError } from '../secrets/signed-file.js'
export { createService, type Service, type ServiceDeps } from '../service.js'
