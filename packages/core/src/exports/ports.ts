export type { HistoryArchive } from '../history/history-store.js'
export type { ProvenRange } from '../indexer/chain-store.js'
export type { ConversionFeed } from '../legacy/pricing.js'
export type {
  PaymentFacts,
  PaymentStatus,
  PriceFeedFacts,
  PricingFacts,
  StoredPayment,
  TokenFacts,
} from '../payments/payment.js'
export type {
  BlockRange,
  BlockRef,
  Chain,
  NodeStatus,
  ProofLevel,
  RangesRequest,
  TransactionFate,
} from '../ports/chain.js'
export type {
  Applicant,
  DatedReview,
  IdentityAccount,
  IdentityAccounts,
  IdentityProvider,
  ProviderRefusal,
  RedeemRequest,
  RedeemResult,
  Review,
} from '../ports/identity.js'
export type { Post, PostFailure, PostResult, Sender } from '../ports/sender.js'
export type { BridgeDeposit, Fulfilment, FulfilmentSource, ReceiptSource } from '../ports/sources.js'
export type { Store } from '../ports/store.js'
export type { Clock, FileReader, FileWriter, Ids, Logger, Random } from '../ports/world.js'
