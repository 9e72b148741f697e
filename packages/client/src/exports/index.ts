export type {
  FlatTransaction,
  Invoice,
  Lookup,
  Page,
  Payment,
  PaymentState,
  Recipient,
  Verify,
  VerifyRequest,
} from '@payment-integration/contract'
export {
  type AnyCallError,
  type AnyClientError,
  type AnyLegacyError,
  type AnyReadError,
  isClientError,
} from '../any-error.js'
export type { CallOptions } from '../call-options.js'
export { type Client, createClient } from '../client.js'
export * from '../errors.js'
export { createLegacyClient, type LegacyClient, type TransactionKey } from '../legacy/client.js'
export * from '../legacy/errors.js'
export { flattenLookup } from '../legacy/flatten.js'
export type { LegacyClientOptions } from '../legacy/options.js'
export type { ClientOptions } from '../options.js'
export type { IterateOptions, ListOptions, PaymentReader } from '../payments.js'
export { clientDefaults, type FetchFunction, type TransportOptions } from '../transport-options.js'
