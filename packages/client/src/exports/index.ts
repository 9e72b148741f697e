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
export type { Amount } from '../amounts/amount.js'
export {
  type AnyCallError,
  type AnyClientError,
  type AnyLegacyError,
  type AnyReadError,
  type AnyShareError,
  isClientError,
} from '../any-error.js'
export type { CallOptions } from '../call-options.js'
export { type Client, createClient } from '../client.js'
export * from '../errors.js'
export * from '../identity/errors.js'
export type {
  ShareApproved,
  ShareInFlight,
  ShareNotStarted,
  ShareRejected,
  ShareResult,
  ShareUnknown,
} from '../identity/result.js'
export type { IdentitySharer } from '../identity/share.js'
export { createLegacyClient, type LegacyClient, type TransactionKey } from '../legacy/client.js'
export * from '../legacy/errors.js'
export { flattenLookup } from '../legacy/flatten.js'
export type { LegacyClientOptions } from '../legacy/options.js'
export type { ClientOptions } from '../options.js'
export type { Invoice, Page, Payment } from '../payment.js'
export type { IterateOptions, ListOptions, PaymentReader } from '../payments.js'
export type { KeptFailure, ReconcileCheckpoint, UnfinishedRun } from '../reconcile/checkpoint.js'
export type {
  FailedPayment,
  Findings,
  MissingPayment,
  SeveralPayments,
  StalePayment,
  UnknownPayment,
  UnreadTransaction,
} from '../reconcile/findings.js'
export { type ReconcileOptions, type ReconcileProgress, reconcileDefaults, type Until } from '../reconcile/options.js'
export { reconcile } from '../reconcile/reconcile.js'
export type { Reconcile, Reconciliation } from '../reconcile/result.js'
export type { ListingStore, ReconcileStore, StoredKey } from '../reconcile/store.js'
export {
  clientDefaults,
  type FetchedResponse,
  type FetchFunction,
  type FetchInit,
  type TransportOptions,
} from '../transport-options.js'
export type { ClientWarning } from '../warning.js'
