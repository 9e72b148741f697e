export type { HistoryArchive } from '../history/history-store.js'
export type { ProvenRange } from '../indexer/chain-store.js'
export type { ConversionFeed } from '../legacy/invoice-and-fees.js'
export type {
  PaymentFacts,
  PaymentStatus,
  PriceFeedFacts,
  PricingFacts,
  StoredPayment,
  TokenFacts,
} from '../payments/payment.js'
export type * from '../ports/chain.js'
export type {
  Applicant,
  DatedReview,
  IdentityAccount,
  IdentityAccounts,
  IdentityProvider,
  ProviderRejection,
  RedeemRequest,
  RedeemResult,
  Review,
} from '../ports/identity.js'
export type {
  Clock,
  FileReader,
  FileWriter,
  IdSource,
  Logger,
  PostFailure,
  PostRequest,
  PostResult,
  RandomSource,
  Sender,
} from '../ports/runtime.js'
export type { Store } from '../ports/store.js'
