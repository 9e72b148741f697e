export { codeLifetimeMs, codeTries } from '../emails/email-codes.js'
export { normaliseEmail } from '../emails/normalise-email.js'
export * from '../errors.js'
export type * from '../events.js'
export {
  createFulfilmentPoller,
  type FulfilmentPollerDeps,
  type FulfilmentPollerOptions,
  fulfilmentPollerDefaults,
} from '../fulfilments/poller.js'
export {
  EmailProofError,
  IdentityMisconfiguredError,
  IdentityUnavailableError,
  ShareRequestError,
  ShareTokenRejectedError,
  VerificationUnavailableError,
} from '../identity/errors.js'
export { createIdentity, type IdentityDeps, identityDefaults } from '../identity/identity.js'
export { parseShareRequest, type ShareBody } from '../identity/parse-share-request.js'
export { checkNamespace, defaultNamespace, redemptionLeaseMs } from '../identity/redemption.js'
export type * from '../identity-types.js'
export { BrokenHistoryError } from '../indexer/broken-history-error.js'
export { DeepReorganisationError } from '../indexer/deep-reorganisation-error.js'
export { createIndexer, type IndexerDeps, type IndexerOptions, indexerDefaults } from '../indexer/indexer.js'
export {
  type NotificationUrlRule,
  notificationPorts,
  readNotificationUrl,
} from '../integrations/notification-url.js'
export { type ConversionFeed, convertAmount } from '../legacy/conversion.js'
export { defaultMaxExtraFeeBps } from '../legacy/extra-fee.js'
export type { Confirmations } from '../legacy/finality.js'
export { type CheckedVerifyRequest, parseVerifyRequest } from '../legacy/verify-request.js'
export { excerptBytes } from '../notifications/attempt.js'
export { createDispatcher, type DispatcherDeps } from '../notifications/dispatcher.js'
export { type DispatcherOptions, dispatcherDefaults, minLeaseMs } from '../notifications/dispatcher-options.js'
export {
  blockBaseMs,
  blockCapMs,
  blockJitter,
  failuresUntilBlock,
  judgeEndpoint,
} from '../notifications/endpoint-health.js'
export { endpointOf } from '../notifications/endpoint-of.js'
export type { OpenSecret } from '../notifications/opened-secrets.js'
export {
  type AttemptResult,
  maxAttempts,
  nextVerdict,
  plannedDelayMs,
  retryAfterCapMs,
  retryDelaysMs,
  retryJitter,
} from '../notifications/schedule.js'
export { initialStatus } from '../payments/record.js'
export { decideTransition, type TransitionDecision, transitions } from '../payments/transition.js'
export { formatUnits } from '../payments/units.js'
export {
  createReceiptPoller,
  type ReceiptPollerDeps,
  type ReceiptPollerOptions,
  receiptPollerDefaults,
} from '../receipts/poller.js'
export type { Difference } from '../reindex/compare.js'
export { type ReindexDeps, type ReindexReport, type ReindexRequest, reindex } from '../reindex/reindex.js'
export { ReindexError } from '../reindex/reindex-error.js'
export { checkMasterKey, MasterKeyError } from '../secrets/check-master-key.js'
export { type KeyPurpose, type KeyVersion, type MasterKey, parseMasterKey } from '../secrets/master-key.js'
export { SealedSecretError } from '../secrets/seal.js'
export { createService, type FollowedChain, type ServiceDeps } from '../service.js'
export type * from '../service-types.js'
export {
  createUpdateReceiver,
  parseUpdate,
  type ReceivedUpdate,
  type UpdateReceiver,
} from '../updates/receive-update.js'
export { silentLogger, systemClock, systemIds, systemRandom } from '../world/system.js'
export type * from './ports.js'
