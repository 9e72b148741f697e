export type {
  FlatTransaction,
  Lookup,
  PaymentState,
  ReviewStatus,
  ShareRequest,
  VerifyRequest,
  VerifyResponse,
} from '@payment-integration/contract'
export type { Amount } from '../amounts.js'
export { type AnyClientError, isClientError } from '../any-error.js'
export { type Client, type ClientOptions, createClient } from '../client.js'
export {
  AbortedError,
  AmbiguousPaymentError,
  ClientError,
  type ClientErrorCode,
  InvalidRequestError,
  InvalidResponseError,
  NetworkError,
  PaymentNotFoundError,
  RateLimitedError,
  ServiceUnavailableError,
  TimeoutError,
  UnauthorizedError,
} from '../errors.js'
export {
  IdentityMisconfiguredError,
  IdentityUnavailableError,
  InvalidShareRequestError,
  type ShareResult,
  ShareTokenRejectedError,
  SharingDisabledError,
  VerificationUnavailableError,
} from '../identity/share.js'
export {
  createLegacyClient,
  flattenLookup,
  InvalidLegacyRequestError,
  type LegacyClient,
  type LegacyClientOptions,
  type TransactionKey,
  TransactionNotFoundError,
  VerificationFailedError,
} from '../legacy/client.js'
export type { Invoice, IterateOptions, ListOptions, Page, Payment } from '../payments.js'
export type { ReconcileCheckpoint } from '../reconcile/checkpoint.js'
export type { Findings, Reconciliation, UnknownPayment } from '../reconcile/findings.js'
export type { ListingStore, ReconcileOptions, ReconcileProgress, ReconcileStore } from '../reconcile/options.js'
export { reconcile } from '../reconcile/reconcile.js'
export type { CallOptions, ClientWarning, FetchFunction } from '../transport-options.js'
