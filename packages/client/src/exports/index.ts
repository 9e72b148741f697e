export type {
  FlatTransaction,
  FormerVerdict,
  Lookup,
  OpenEnum,
  OpenPaymentState,
  OpenShareResponse,
  PaymentState,
  ReviewStatus,
  ShareRequest,
  Verify,
  VerifyRequest,
} from '@payment-integration/contract'
export type { Amount } from '../amounts.js'
export {
  type AnyCallError,
  type AnyClientError,
  type AnyLegacyError,
  type AnyReadError,
  type AnyShareError,
  isClientError,
} from '../any-error.js'
export { type Client, type ClientOptions, createClient } from '../client.js'
export * from '../errors.js'
export {
  IdentityMisconfiguredError,
  type IdentitySharer,
  IdentityUnavailableError,
  InvalidShareRequestError,
  type ShareApproved,
  type ShareInFlight,
  type ShareNotStarted,
  type ShareRejected,
  type ShareResult,
  ShareTokenRejectedError,
  type ShareUnknown,
  SharingDisabledError,
  VerificationUnavailableError,
} from '../identity/share.js'
export {
  createLegacyClient,
  flattenLookup,
  InvalidLegacyRequestError,
  type LegacyClient,
  type LegacyClientOptions,
  type RequestFlaw,
  type TransactionKey,
  TransactionNotFoundError,
  VerificationFailedError,
} from '../legacy/client.js'
export type { Invoice, IterateOptions, ListOptions, Page, Payment, PaymentReader } from '../payments.js'
export type { KeptFailure, ReconcileCheckpoint, UnfinishedRun } from '../reconcile/checkpoint.js'
export type {
  FailedPayment,
  Findings,
  MissingPayment,
  Reconcile,
  Reconciliation,
  SeveralPayments,
  StalePayment,
  UnknownPayment,
  UnreadTransaction,
} from '../reconcile/findings.js'
export {
  type ListingStore,
  type ReconcileOptions,
  type ReconcileProgress,
  type ReconcileStore,
  reconcileDefaults,
  type StoredKey,
  type Until,
} from '../reconcile/options.js'
export { reconcile } from '../reconcile/reconcile.js'
export {
  type CallOptions,
  type ClientWarning,
  clientDefaults,
  type FetchedResponse,
  type FetchFunction,
  type FetchInit,
  type TransportOptions,
} from '../transport-options.js'
